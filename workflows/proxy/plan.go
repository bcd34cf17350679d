package proxy

import (
	"strings"
	"time"

	"example.com/fairlead/temporal/wire"
)

// How long attempts of a Create may go on: a first call comes back soon, a quiet
// one waits for a day.
const (
	createWindow = 3 * time.Minute
	quietWindow  = 24 * time.Hour
)

// Next says what to do now. It looks at nothing but its arguments, so its table
// test is the state machine.
func Next(s State, want wire.Claim, now time.Time) Step {
	if want.ClusterID != s.ClusterID {
		return nextInWrongCluster(s, want, now)
	}
	if want.Gone {
		// The finalizer was stripped by hand. Deleting what is left counts against the
		// kill budget of the orphan sweep, which finds it once this workflow has ended.
		return Step{Kind: End}
	}
	v := decide(s, want, now)
	switch k := v.step.Kind; {
	case k == Enter, k == Release, k == Condemn, k == Get && s.Trouble == nil: // what they find out belongs into the same status
		return v.step
	}
	status := describe(s, want, v, now)
	if want.Deleting && s.Refused != nil && equal(status, *s.Refused) {
		return v.step
	}
	if !equal(status, s.Stored) {
		status.Sequence = s.Stored.Sequence + 1
		return Step{Kind: Publish, Status: status}
	}
	return v.step
}

// view is how a state reads to people, and the step that follows from it.
type view struct {
	phase  string
	reason string // of the Provisioned condition
	msg    string
	step   Step
}

func decide(s State, want wire.Claim, now time.Time) view {
	switch {
	case want.Deleting:
		return decideDeleting(s, want, now)
	case want.Paused:
		return decidePaused(s, want)
	case want.External:
		return decideExternal(s, want, now)
	default:
		return decideManaged(s, want, now)
	}
}

// nextInWrongCluster leaves everything as it is: a wrong kubeconfig or a restored
// backup must not delete a fleet.
func nextInWrongCluster(s State, want wire.Claim, now time.Time) Step {
	switch {
	case want.Gone:
		return Step{Kind: Park}
	case s.Version >= 3 && want.Deleting && want.SkipCleanup: // it deletes no instance
		return Step{Kind: Release}
	}
	v := view{wire.PhaseWaiting, wire.ReasonWrongCluster, "this object was managed in cluster " + s.ClusterID + ", this is " + want.ClusterID, Step{Kind: Park}}
	if s.Version >= 3 {
		v.msg += "; if that one is no more, fairlead worker --cluster-id=" + s.ClusterID + " takes its proxies over"
	}
	if status := describe(s, want, v, now); !equal(status, s.Stored) {
		status.Sequence = s.Stored.Sequence + 1
		return Step{Kind: Publish, Status: status}
	}
	return v.step
}

func decideDeleting(s State, want wire.Claim, now time.Time) view {
	if want.SkipCleanup {
		return decideAbandon(s, want)
	}
	if len(s.Ledger) == 0 {
		return view{wire.PhaseDeleting, wire.ReasonDeleting, "", Step{Kind: Release}}
	}
	r := &s.Ledger[0]
	v := view{wire.PhaseDeleting, wire.ReasonDeleting, s.still(r, "deleting "+r.Name, now), removal(s, r)}
	switch {
	case s.Trouble != nil:
		v.reason, v.msg = reasonOf(s.Trouble), s.Trouble.Message
	case v.step.Kind == Delete && s.unserved(r, want): // once it is accepted, somebody serves it
		v.reason = wire.ReasonUnavailable
		v.msg = r.Name + " cannot be deleted: the providers file does not have " + r.Provider + "; put it back, or abandon the instance by annotation " + wire.AnnotationSkipCleanup
		v.step.Quiet = true
	}
	return v
}

// decideAbandon lets the object go, whatever there is. Our marks come off first,
// where that can be done, or a sweep would take the instances for orphans.
func decideAbandon(s State, want wire.Claim) view {
	v := view{wire.PhaseDeleting, wire.ReasonDeleting, "abandoning by annotation " + wire.AnnotationSkipCleanup, Step{Kind: Release}}
	for i := range s.Ledger {
		if r := &s.Ledger[i]; !r.Disowned && !s.unserved(r, want) {
			v.step = Step{Kind: Disown, Entry: r.Entry}
			break
		}
	}
	return v
}

// decidePaused does nothing, and says how the proxy is doing all the same.
func decidePaused(s State, want wire.Claim) view {
	v := view{wire.PhasePending, wire.ReasonPaused, "paused by annotation " + wire.AnnotationPaused, Step{Kind: Park}}
	cur := s.shown(want)
	switch {
	case s.endpoint(want, v, cur) != nil:
		v.phase = healthPhase(s.healthOf(0))
	case s.serving(cur):
		v.phase = healthPhase(s.healthOf(cur.Incarnation))
	case s.Stored.Phase != "":
		v.phase = s.Stored.Phase
	}
	return v
}

func decideExternal(s State, want wire.Claim, now time.Time) view {
	if r := s.stray(nil); r != nil {
		return retire(s, want, r, now, r.Name+" goes: the proxy is External now")
	}
	return decideEndpoint(s, want, now)
}

// newEntry is the next instance. Its incarnation is the sequence it is published
// with, which never comes again.
func newEntry(s State, want wire.Claim, now time.Time) wire.Entry {
	return renewed(wire.Entry{
		Provider:    want.Provider,
		Place:       want.Places[0],
		Name:        want.InstanceName,
		Incarnation: s.Stored.Sequence + 1,
		Hash:        want.Hash,
	}, s.Trouble != nil, now)
}

// renewed is e with room for another Create.
func renewed(e wire.Entry, quiet bool, now time.Time) wire.Entry {
	e.AttemptUntil = now.Add(window(quiet) + wire.AttemptSlack).Truncate(time.Second)
	return e
}

func window(quiet bool) time.Duration {
	if quiet {
		return quietWindow
	}
	return createWindow
}

func where(e wire.Entry) string {
	if e.Place == "" {
		return e.Provider
	}
	return e.Provider + "/" + e.Place
}

// hashVersion is the version of a hash.
func hashVersion(hash string) string {
	version, _, _ := strings.Cut(hash, ":")
	return version
}
