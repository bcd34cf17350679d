package addon

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/events"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

func TestChanges(t *testing.T) {
	in := func(phase addons.Phase, message string, more ...func(*addons.AddonStatus)) addons.AddonStatus {
		s := addons.AddonStatus{Phase: phase, Message: message, Revision: "demo-1.0.0", AppliedHash: "h1", Adopted: true}
		for _, change := range more {
			change(&s)
		}
		return s
	}
	healthy := func(status addons.HealthStatus, message string) func(*addons.AddonStatus) {
		return func(s *addons.AddonStatus) { s.Health = &addons.Health{Status: status, Message: message} }
	}
	planned := func(hash string) func(*addons.AddonStatus) {
		return func(s *addons.AddonStatus) {
			s.Plan = &addons.Plan{Hash: hash, Create: 3, Prune: 1, Unchanged: 9}
		}
	}
	applied := func(s *addons.AddonStatus) { s.AppliedHash = "h2" }
	end := func(outcome, message string) *wire.AddonSyncEnd {
		return &wire.AddonSyncEnd{Revision: "demo-1.0.0", Outcome: outcome, Message: message}
	}
	byAlice := end("Succeeded", "1 updated")
	byAlice.Approver.Name = "alice"
	syncing := in(addons.PhaseSyncing, "")
	synced := in(addons.PhaseSynced, "")
	normal, warning := events.Normal, events.Warning
	for _, tt := range []struct {
		name     string
		old, now addons.AddonStatus
		in       wire.AddonPublishInput
		want     []events.Event
	}{
		{"nothing", synced, synced, wire.AddonPublishInput{}, nil},
		{"a new add-on is looked at", addons.AddonStatus{}, in(addons.PhasePending, ""), wire.AddonPublishInput{}, nil},
		{"a sync begins", synced, syncing, wire.AddonPublishInput{}, nil},
		{"it ends", syncing, in(addons.PhaseSynced, "", applied), wire.AddonPublishInput{Ended: end("Succeeded", "3 created, 1 deleted")},
			[]events.Event{normal("Synced", "demo-1.0.0: 3 created, 1 deleted")}},
		{"the same content was put back", syncing, synced, wire.AddonPublishInput{Ended: end("Succeeded", "1 updated")},
			[]events.Event{normal("Healed", "the cluster differed from demo-1.0.0: 1 updated")}},
		{"somebody approved that", syncing, synced, wire.AddonPublishInput{Ended: byAlice}, []events.Event{normal("Synced", "demo-1.0.0: 1 updated")}},
		{"a difference went away by itself", in(addons.PhaseOutOfSync, "", planned("p1")), synced, wire.AddonPublishInput{},
			[]events.Event{normal("Synced", "the cluster is as the source says: demo-1.0.0")}},
		{"a plan waits", synced, in(addons.PhaseOutOfSync, "wants approval", planned("p1")), wire.AddonPublishInput{},
			[]events.Event{normal("OutOfSync", "3 to create, 1 to prune: wants approval")}},
		{"it still waits", in(addons.PhaseOutOfSync, "wants approval", planned("p1")), in(addons.PhaseOutOfSync, "in other words", planned("p1")),
			wire.AddonPublishInput{}, nil},
		{"another plan waits", in(addons.PhaseOutOfSync, "", planned("p1")), in(addons.PhaseOutOfSync, "", planned("p2")), wire.AddonPublishInput{},
			[]events.Event{normal("OutOfSync", "3 to create, 1 to prune")}},
		{"somebody else's object", synced, in(addons.PhaseBlocked, "it is Helm's"), wire.AddonPublishInput{}, []events.Event{warning("Blocked", "it is Helm's")}},
		{"an error", synced, in(addons.PhaseError, "no such chart"), wire.AddonPublishInput{}, []events.Event{warning("Error", "no such chart")}},
		{"the same error", in(addons.PhaseError, "no such chart"), in(addons.PhaseError, "no such chart"), wire.AddonPublishInput{}, nil},
		{"another error", in(addons.PhaseError, "no such chart"), in(addons.PhaseError, "no such host"), wire.AddonPublishInput{},
			[]events.Event{warning("Error", "no such host")}},
		{"a hook failed, and the sync with it", syncing, in(addons.PhaseError, "hook migrate failed"),
			wire.AddonPublishInput{
				Ended: end("Failed", "hook migrate failed"),
				Ran: []wire.AddonHookRun{
					{Event: "pre-upgrade", Kind: "Job", Name: "backup"}, {Event: "pre-upgrade", Kind: "Job", Name: "migrate", Failed: true, Message: "exit 1"},
				},
			},
			[]events.Event{warning("HookFailed", "pre-upgrade Job migrate failed: exit 1"), warning("Error", "hook migrate failed")}},
		{"a sync stopped", syncing, in(addons.PhaseOutOfSync, "", planned("p2")), wire.AddonPublishInput{Ended: end("Stopped", "Deployment web moved")},
			[]events.Event{warning("SyncStopped", "demo-1.0.0: Deployment web moved"), normal("OutOfSync", "3 to create, 1 to prune")}},
		{"suspended", synced, in(addons.PhaseSuspended, "by spec.suspend"), wire.AddonPublishInput{}, []events.Event{normal("Suspended", "by spec.suspend")}},
		{"an uninstall begins", synced, in(addons.PhaseUninstalling, "4 objects"), wire.AddonPublishInput{}, []events.Event{normal("Uninstalling", "4 objects")}},
		{"and goes on", in(addons.PhaseUninstalling, "4 objects"), in(addons.PhaseUninstalling, "3 objects"), wire.AddonPublishInput{}, nil},
		{"objects break", in(addons.PhaseSynced, "", healthy("Healthy", "")), in(addons.PhaseSynced, "", healthy("Degraded", "web crashes")), wire.AddonPublishInput{},
			[]events.Event{warning("Unhealthy", "Degraded: web crashes")}},
		{"and are repaired", in(addons.PhaseSynced, "", healthy("Degraded", "web crashes")), in(addons.PhaseSynced, "", healthy("Healthy", "")), wire.AddonPublishInput{},
			[]events.Event{normal("Healthy", "all objects work")}},
		{"they are healthy from the start", synced, in(addons.PhaseSynced, "", healthy("Healthy", "")), wire.AddonPublishInput{}, nil},
		{"they are on their way", in(addons.PhaseSynced, "", healthy("Healthy", "")), in(addons.PhaseSynced, "", healthy("Progressing", "")), wire.AddonPublishInput{}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, changes(&tt.old, &tt.now, tt.in)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFarewell(t *testing.T) {
	for name, tt := range map[string]struct {
		uninstalled bool
		kept        string
		want        events.Event
	}{
		"uninstalled":               {true, "", events.Normal("Uninstalled", "nothing is left of it")},
		"uninstalled, and not all":  {true, "Namespace demo", events.Normal("Uninstalled", "left in the cluster: Namespace demo")},
		"deleted without uninstall": {false, "", events.Normal("Released", "its objects stay in the cluster as they are")},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, farewell(tt.uninstalled, tt.kept)); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
		})
	}
}
