package addon

import (
	"cmp"
	"fmt"
	"strings"

	"example.com/fairlead/activities/events"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// Reasons of the Events that people look for. A phase that is told is its own reason.
const (
	eventSynced      = "Synced"
	eventHealed      = "Healed"
	eventStopped     = "SyncStopped"
	eventHookFailed  = "HookFailed"
	eventHealthy     = "Healthy"
	eventUnhealthy   = "Unhealthy"
	eventUninstalled = "Uninstalled"
	eventReleased    = "Released"
)

// changes are what there is to tell when a status takes the place of an old one. It looks
// at nothing but its arguments.
func changes(old, now *addons.AddonStatus, in wire.AddonPublishInput) []events.Event {
	var out []events.Event
	for _, r := range in.Ran {
		if r.Failed {
			out = append(out, events.Warning(eventHookFailed, said(fmt.Sprintf("%s %s %s failed", r.Event, r.Kind, r.Name), r.Message)))
		}
	}
	out = append(out, ended(old, now, in.Ended)...)
	out = append(out, phase(old, now, in.Ended)...)
	return append(out, flip(old, now)...)
}

// ended tells how a sync ended, but for a failure: the phase that follows tells that.
func ended(old, now *addons.AddonStatus, end *wire.AddonSyncEnd) []events.Event {
	switch {
	case end == nil:
		return nil
	case end.Outcome == string(addons.OutcomeStopped):
		return []events.Event{events.Warning(eventStopped, said(end.Revision, end.Message))}
	case end.Outcome != string(addons.OutcomeSucceeded):
		return nil
	case old.Adopted && old.AppliedHash == now.AppliedHash && end.Approver.Name == "":
		return []events.Event{events.Normal(eventHealed, said("the cluster differed from "+cmp.Or(end.Revision, "the source"), end.Message))}
	}
	return []events.Event{events.Normal(eventSynced, said(end.Revision, end.Message))}
}

// phase tells of a phase when it begins, and when what there is to say of it changes.
func phase(old, now *addons.AddonStatus, end *wire.AddonSyncEnd) []events.Event {
	reason, entered := string(now.Phase), old.Phase != now.Phase
	switch now.Phase {
	case addons.PhaseSynced:
		if entered && end == nil {
			return []events.Event{events.Normal(reason, said("the cluster is as the source says", now.Revision))}
		}
	case addons.PhaseOutOfSync:
		if entered || hashOf(old) != hashOf(now) {
			return []events.Event{events.Normal(reason, said(inWords(now.Plan), now.Message))}
		}
	case addons.PhaseBlocked, addons.PhaseError:
		if entered || old.Message != now.Message {
			return []events.Event{events.Warning(reason, now.Message)}
		}
	case addons.PhaseSuspended, addons.PhaseUninstalling:
		if entered {
			return []events.Event{events.Normal(reason, now.Message)}
		}
	}
	return nil
}

func hashOf(s *addons.AddonStatus) string {
	if s.Plan == nil {
		return ""
	}
	return s.Plan.Hash
}

// inWords is a plan in words.
func inWords(p *addons.Plan) string {
	if p == nil {
		return ""
	}
	var words []string
	for _, c := range []struct {
		n    int32
		what string
	}{{p.Create, "create"}, {p.Update, "update"}, {p.Replace, "replace"}, {p.Prune, "prune"}} {
		if c.n > 0 {
			words = append(words, fmt.Sprintf("%d to %s", c.n, c.what))
		}
	}
	return strings.Join(words, ", ")
}

// flip tells when the health of the objects turns. What is on its way is neither.
func flip(old, now *addons.AddonStatus) []events.Event {
	if now.Health == nil || old.Health != nil && old.Health.Status == now.Health.Status {
		return nil
	}
	switch now.Health.Status {
	case addons.HealthHealthy:
		if old.Health != nil {
			return []events.Event{events.Normal(eventHealthy, said("all objects work", now.Health.Message))}
		}
	case addons.HealthDegraded, addons.HealthMissing:
		return []events.Event{events.Warning(eventUnhealthy, said(string(now.Health.Status), now.Health.Message))}
	}
	return nil
}

// farewell is what there is to tell of an object that was let go.
func farewell(uninstalled bool, kept string) events.Event {
	switch {
	case !uninstalled:
		return events.Normal(eventReleased, said("its objects stay in the cluster as they are", kept))
	case kept == "":
		return events.Normal(eventUninstalled, "nothing is left of it")
	}
	return events.Normal(eventUninstalled, "left in the cluster: "+kept)
}

func said(words, message string) string {
	if words == "" || message == "" {
		return words + message
	}
	return words + ": " + message
}
