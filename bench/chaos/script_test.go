package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// many is how many lifecycles a property is looked for in.
const many = 1000

func TestAScriptIsDrawnFromTheSeedAlone(t *testing.T) {
	if diff := cmp.Diff(newScript(7, 3).String(), newScript(7, 3).String()); diff != "" {
		t.Errorf("the same seed draws another script (-first +second):\n%s", diff)
	}
	if newScript(7, 3).String() == newScript(8, 3).String() || newScript(7, 3).String() == newScript(7, 4).String() {
		t.Error("another seed, or another lifecycle, has the same script")
	}
}

func TestEverythingIsDrawnNowAndThen(t *testing.T) {
	acted, ended := map[act]int{}, map[ending]int{}
	for i := range many {
		for _, l := range newScript(1, i).lives {
			ended[l.ending]++
			for _, st := range l.steps {
				acted[st.do]++
			}
		}
	}
	for _, a := range acts {
		if acted[a.value] == 0 {
			t.Errorf("nobody does it: %s", a.value)
		}
	}
	for _, e := range []ending{deleted, convergedFirst, stays, abandoned, abandonedMidway} {
		if ended[e] == 0 {
			t.Errorf("no life ends so: %s", e)
		}
	}
}

func TestFaults(t *testing.T) {
	drawn := map[fault]int{}
	for i := range many {
		lifecycle := fmt.Sprint(i)
		lost := 0
		for _, who := range []string{lifecycle + ".1", lifecycle + ".2"} {
			lied := false
			for m := range otherFaults {
				for n := range min(faultyCalls[m]+2, 50) {
					f := faultOf(1, who, m, n)
					drawn[f]++
					if n >= faultyCalls[m] && f != faultNone {
						t.Fatalf("call %d of %s fails: %s", n, m, f)
					}
					if m == methodCreate && isLost(f) {
						lost++
					}
					if lied && f == faultNotFound {
						t.Fatalf("%s: two looks in a row find nothing", who)
					}
					lied = f == faultNotFound
				}
			}
		}
		if lost > 1 {
			t.Fatalf("lifecycle %d loses %d attempts", i, lost)
		}
	}
	for _, f := range allFaults {
		if f == faultHalted {
			continue // no call draws it
		}
		if drawn[f] == 0 {
			t.Errorf("it never happens: %s", f)
		}
	}
}

func isLost(f fault) bool {
	for _, l := range lostAttempts {
		if l.value == f {
			return true
		}
	}
	return false
}

func TestDelaysStayWithinAnAttempt(t *testing.T) {
	for n := range many {
		if d := delayOf(1, "1.1", methodCreate, n); d <= 0 || d > time.Minute {
			t.Fatalf("call %d is delayed by %s", n, d)
		}
	}
}

func TestTheFirstBlowsFallInEveryRun(t *testing.T) {
	for seed := range uint64(20) {
		for n, want := range firstBlows {
			if got := nthBlow(seed, n); got.blow != want || got.after <= 0 || got.after > 10*time.Second {
				t.Errorf("seed %d: blow %d is %+v, want %s soon", seed, n, got, want)
			}
		}
	}
}
