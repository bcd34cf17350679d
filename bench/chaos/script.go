package main

import (
	"fmt"
	"strings"
	"time"

	"example.com/fairlead/bench/internal/dice"
)

// act is something that is done to an object, or to its workflow.
type act string

const (
	actEditPort       act = "edit the port"
	actEditCloudInit  act = "edit cloudInit"
	actEditAuth       act = "turn authSecretRef on or off"
	actEditAttributes act = "edit the attributes"
	actEditProvider   act = "move to the other provider"
	actRotate         act = "rotate the Secrets"
	actHideSecrets    act = "take the Secrets away for a while"
	actPause          act = "pause for a while"
	actReplace        act = "ask for a replacement"
	actKillProcess    act = "kill the proxy's process"
	actReboot         act = "reboot the proxy's machine"
	actTerminate      act = "terminate the workflow"
	actCancel         act = "cancel the workflow"
	actReset          act = "reset the workflow"
)

var acts = []weighted[act]{
	{16, actEditPort}, {8, actEditCloudInit}, {8, actEditAuth}, {5, actEditAttributes}, {8, actEditProvider},
	{9, actRotate}, {4, actHideSecrets}, {8, actPause}, {10, actReplace}, {7, actKillProcess}, {14, actReboot},
	{10, actTerminate}, {7, actCancel}, {10, actReset},
}

// moment is when a step is due.
type moment string

const (
	// atOnce is in the middle of what the step before began.
	atOnce     moment = "at once"
	onceReady  moment = "once it is Ready"
	onceTrying moment = "once an attempt to create it may be running"
)

var moments = []weighted[moment]{{45, onceReady}, {40, atOnce}, {15, onceTrying}}

// step is one line of a script.
type step struct {
	// once is what is waited for first, for a while.
	once moment
	// after that.
	after time.Duration
	do    act
	// lasts is how long acts last that end by themselves.
	lasts time.Duration
	// roll is what acts draw from.
	roll uint64
}

// ending is how the life of an object ends.
type ending string

const (
	deleted          ending = "delete it"
	convergedFirst   ending = "delete it once it is Ready"
	stays            ending = "leave it until all is quiet"
	abandoned        ending = "delete it with skip-cleanup"
	abandonedMidway  ending = "delete it, then add skip-cleanup"
	maxSteps                = 6
	maxLivesWithName        = 2
)

// life is that of one object.
type life struct {
	secretAuth, secretCloudInit bool
	drain                       time.Duration
	steps                       []step
	ending                      ending
}

// script is all that happens to the objects of one name, one after another.
type script struct {
	lifecycle int
	lives     []life
}

// newScript draws the script of a lifecycle.
func newScript(seed uint64, lifecycle int) script {
	d := dice.New(seed, "script", lifecycle)
	s := script{lifecycle: lifecycle}
	n := 1
	if d.Chance(20) {
		n = maxLivesWithName
	}
	for i := range n {
		s.lives = append(s.lives, newLife(d, i == n-1))
	}
	return s
}

func newLife(d *dice.Dice, last bool) life {
	l := life{secretAuth: d.Chance(40), secretCloudInit: d.Chance(40)}
	if d.Chance(30) {
		l.drain = d.Between(0, 3*time.Second)
	}
	for range d.Below(maxSteps + 1) {
		l.steps = append(l.steps, newStep(d))
	}
	endings := []weighted[ending]{{60, deleted}, {28, convergedFirst}, {4, abandoned}, {3, abandonedMidway}}
	if last {
		endings = append(endings, weighted[ending]{5, stays})
	}
	l.ending = draw(d, endings)
	return l
}

func newStep(d *dice.Dice) step {
	s := step{do: draw(d, acts), lasts: d.Between(200*time.Millisecond, 3*time.Second), roll: d.Next(), once: draw(d, moments)}
	if s.do == actReboot {
		s.once = onceReady // on a machine where nothing runs it is nothing
	}
	if d.Chance(40) {
		s.after = d.Between(0, 2500*time.Millisecond)
	}
	return s
}

func (s step) String() string {
	return fmt.Sprintf("%s, %s later: %s", s.once, s.after, s.do)
}

// String is the script as a person reads it.
func (s script) String() string {
	var b strings.Builder
	for i, l := range s.lives {
		fmt.Fprintf(&b, "life %d.%d: create it (auth %t, cloudInit from a Secret %t, drain %s)\n", s.lifecycle, i+1, l.secretAuth, l.secretCloudInit, l.drain)
		for _, st := range l.steps {
			fmt.Fprintf(&b, "  %s\n", st)
		}
		fmt.Fprintf(&b, "  then %s\n", l.ending)
	}
	return b.String()
}
