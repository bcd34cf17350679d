package sweep

import (
	"slices"

	"example.com/fairlead/temporal/wire"
)

// verdict on the suspects of two sweeps.
type verdict struct {
	// orphans is how many of them both sweeps saw.
	orphans int
	// kill are those that may be deleted now.
	kill []wire.Suspect
	// suspects go to the next sweep.
	suspects []wire.Suspect
}

// judge confirms what was suspected before and is still there. What is tried now
// has to be suspected anew before it is tried again, so that a few that cannot be
// deleted never use up the budget of the others.
func judge(former []wire.Suspect, look wire.Sweep) verdict {
	if look.Partial {
		return verdict{suspects: wire.BoundSuspects(former)}
	}
	var v verdict
	for _, s := range wire.BoundSuspects(look.Suspects) {
		if !slices.Contains(former, s) {
			v.suspects = append(v.suspects, s)
			continue
		}
		v.orphans++
		if len(v.kill) < look.KillBudget {
			v.kill = append(v.kill, s)
		} else {
			v.suspects = append(v.suspects, s)
		}
	}
	return v
}
