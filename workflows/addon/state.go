package addon

import (
	"time"

	"example.com/fairlead/temporal/wire"
)

// Version of the plan that new runs follow; see workflows/proxy, whose rules hold here.
const Version = 1

// Input starts the workflow, and each of its runs after the first.
type Input struct {
	Addon wire.AddonRef `json:"addon"`
	// Version of the plan.
	Version int `json:"version,omitempty"`
	// State is what the run before left; nil for the first run.
	State *State `json:"state,omitempty"`
	// Dirty: the run before had not acted on its last signals yet. Asks are the requests to
	// sync among them.
	Dirty bool             `json:"dirty,omitempty"`
	Asks  []wire.SyncInput `json:"asks,omitempty"`
}

// State is what the workflow carries from run to run. What matters of it is on the object
// too: a terminated workflow loses nothing but the patience of its retries.
type State struct {
	Version int `json:"version"`
	// Stored is the status that is known to be on the object.
	Stored wire.AddonStatus `json:"stored"`
	// Sync is how far the sync, or uninstall, under way has got.
	Sync *wire.AddonSync `json:"sync,omitempty"`
	// LostPlan is one that the set store has no more: what was approved of it is made anew.
	LostPlan string `json:"lostPlan,omitempty"`
	// Work is what this episode found and did.
	Work Work `json:"work,omitzero"`
	// Failure is why the last try failed, and when the next one is.
	Failure *Failure `json:"failure,omitempty"`
	// Settled is until when a look waits for the objects to be healthy.
	Settled time.Time `json:"settled,omitzero"`
}

// Work is what an episode found and did. A new claim drops what was found.
type Work struct {
	Preview *wire.AddonPreview `json:"preview,omitempty"`
	// Stopped counts the syncs of this episode that found the cluster moved.
	Stopped int `json:"stopped,omitempty"`
	// Early: what hooks need is applied.
	Early bool `json:"early,omitempty"`
	// Runs are the hooks of Event that ran, by number. Tidied: they are tidied up after,
	// though the last one failed.
	Event  string   `json:"event,omitempty"`
	Runs   []string `json:"runs,omitempty"`
	Tidied bool     `json:"tidied,omitempty"`
	// HookFailed is why a hook of Event failed, the last of Runs.
	HookFailed string `json:"hookFailed,omitempty"`
	// Defined: kinds were defined, so that another look may render something else.
	Defined bool `json:"defined,omitempty"`
	// Applied is what became of the plan.
	Applied *wire.AddonApplied `json:"applied,omitempty"`
	// Kept is what an uninstall left in the cluster.
	Kept string `json:"kept,omitempty"`
	// Done: the sync of this episode is published, and nothing is left to do.
	Done bool `json:"done,omitempty"`

	// Ran and Ended are told with the next status.
	Ran   []wire.AddonHookRun `json:"ran,omitempty"`
	Ended *wire.AddonSyncEnd  `json:"ended,omitempty"`
}

// Failure is why the last try failed.
type Failure struct {
	Message string `json:"message"`
	// Count of tries that failed, one after the other.
	Count int `json:"count"`
	// Until is when the next one is.
	Until time.Time `json:"until"`
	// Inputs that it failed with: others are tried at once.
	Inputs string `json:"inputs,omitempty"`
}

// The first and the longest wait after a failure.
const (
	firstRetry = time.Minute
	lastRetry  = 15 * time.Minute
)

// fail plans the next try. The same failure again is told once.
func (s *State) fail(message, inputs string, now time.Time) (again bool) {
	f := Failure{Message: clip(message), Count: 1, Inputs: inputs}
	if s.Failure != nil && s.Failure.Inputs == inputs {
		f.Count = s.Failure.Count + 1
		again = s.Failure.Message == f.Message
	}
	wait := firstRetry
	for i := 1; i < f.Count && wait < lastRetry; i++ {
		wait *= 2
	}
	f.Until = now.Add(min(wait, lastRetry))
	s.Failure = &f
	return again
}

// merge takes in what was read from the object, and drops what was found before.
func (s *State) merge(c wire.AddonClaim) {
	s.Work = Work{Ran: s.Work.Ran, Ended: s.Work.Ended, Stopped: s.Work.Stopped}
	if c.Gone {
		return
	}
	if !equal(c.Stored, s.Stored) { // another workflow wrote it, or somebody restored it
		c.Stored.Sequence = max(c.Stored.Sequence, s.Stored.Sequence)
		s.Stored = c.Stored
		if s.Sync == nil {
			s.Sync = copied(c.Stored.Sync)
		}
	}
	if s.Failure != nil && s.Failure.Inputs != c.Inputs {
		s.Failure = nil // somebody acted: it is tried at once
	}
}

// equal compares statuses by value.
func equal(a, b wire.AddonStatus) bool {
	as, bs := a.Sync, b.Sync
	a.Sync, b.Sync = nil, nil
	same := a.LastSynced.Equal(b.LastSynced)
	a.LastSynced, b.LastSynced = time.Time{}, time.Time{}
	return same && a == b && sameSync(as, bs)
}

// copied is a sync that can be changed: what is stored stays what it is.
func copied(sync *wire.AddonSync) *wire.AddonSync {
	if sync == nil {
		return nil
	}
	c := *sync
	return &c
}

func sameSync(a, b *wire.AddonSync) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
