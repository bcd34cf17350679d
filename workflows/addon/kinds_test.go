package addon

import (
	"testing"

	"example.com/fairlead/temporal/wire"
)

func TestAKindThatComesBeforeHooksIsLookedForToo(t *testing.T) {
	o := newOutside()
	o.hooks = jobs
	o.apply = func(in wire.AddonApplyInput) *wire.AddonApplied {
		if in.Part == wire.PartEarly {
			return &wire.AddonApplied{Written: 1, Defined: true}
		}
		return nil
	}
	o.episode(t, nil, nil)
	if got := o.calls[len(o.calls)-3:]; got[0] != published || got[1] != claimed || got[2] != previewed {
		t.Errorf("activities end with %v, want another look after the sync", got)
	}
}

func TestAKindThatSomebodyChangesBackIsNotFoughtFor(t *testing.T) {
	o := newOutside()
	o.apply = func(wire.AddonApplyInput) *wire.AddonApplied {
		o.live, o.drifted = o.content, 1
		return &wire.AddonApplied{Inventory: "exact-" + o.content, Written: 1, Defined: true, Health: o.health}
	}
	o.episode(t, nil, nil)
	once := []string{claimed, previewed, published, applied + wire.PartAll, published}
	o.called(t, append(once, once...)...)
}
