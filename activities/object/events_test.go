package object

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fairlead/activities/events"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// told is a status: a phase, what the condition Provisioned says, and more.
func told(phase crawl.Phase, status metav1.ConditionStatus, reason, message string, edits ...func(*crawl.ProxyStatus)) crawl.ProxyStatus {
	s := crawl.ProxyStatus{
		Phase:     phase,
		Instances: []crawl.InstanceRecord{{Provider: "process", Place: "/a", Name: "proxy-x", Incarnation: 2}},
		Conditions: []metav1.Condition{
			{Type: crawl.ConditionProvisioned, Status: status, Reason: reason, Message: message},
			{Type: crawl.ConditionHealthy, Status: metav1.ConditionUnknown, Reason: wire.ReasonNotProbed},
		},
	}
	for _, e := range edits {
		e(&s)
	}
	return s
}

func incarnation(n int64) func(*crawl.ProxyStatus) {
	return func(s *crawl.ProxyStatus) { s.Instances[0].Incarnation = n }
}

func verdict(status metav1.ConditionStatus, reason, message string) func(*crawl.ProxyStatus) {
	return func(s *crawl.ProxyStatus) {
		s.Conditions[1].Status, s.Conditions[1].Reason, s.Conditions[1].Message = status, reason, message
	}
}

func TestEvents(t *testing.T) {
	const yes, no = metav1.ConditionTrue, metav1.ConditionFalse
	at := func(s *crawl.ProxyStatus) { s.IP, s.Port = "127.64.0.1", 3128 }
	creating := told(crawl.PhaseProvisioning, no, wire.ReasonProvisioning, "creating proxy-x")
	up := told(crawl.PhaseProvisioning, yes, wire.ReasonCreated, "", at)
	ready := told(crawl.PhaseReady, yes, wire.ReasonCreated, "", at, verdict(yes, "Healthy", ""))
	sick := told(crawl.PhaseUnhealthy, yes, wire.ReasonCreated, "", at, verdict(no, "Dead", "connection refused"))
	draining := told(crawl.PhaseDraining, yes, wire.ReasonDraining, "the spec changed", at, verdict(yes, "Healthy", ""))
	replacing := told(crawl.PhaseReplacing, no, wire.ReasonReplacing, "the spec changed", verdict(yes, "Healthy", ""))
	quota := told(crawl.PhaseWaiting, no, wire.ReasonQuota, "no room in zone-a")
	const bans, again, gone = "127.64.0.1 was banned: 5 reports within 10m0s", "the provider gave 127.64.0.1 again", "the provider gives the same address again"
	banned := told(crawl.PhaseDraining, yes, wire.ReasonBanned, bans, at, verdict(yes, "Healthy", ""))
	bannedGoes := told(crawl.PhaseReplacing, no, wire.ReasonBanned, bans)
	same := told(crawl.PhaseReady, yes, wire.ReasonSameAddress, gone, at, verdict(yes, "Healthy", ""))
	external := crawl.ProxyStatus{Phase: crawl.PhaseProvisioning, Conditions: []metav1.Condition{
		{Type: crawl.ConditionProvisioned, Status: yes, Reason: wire.ReasonExternal},
	}}
	normal, warning := events.Normal, events.Warning
	tests := []struct {
		name     string
		old, now crawl.ProxyStatus
		want     []events.Event
	}{
		{"a first status tells nothing yet", crawl.ProxyStatus{}, creating, nil},
		{"the instance is up", creating, up, []events.Event{normal("Created", "proxy-x (incarnation 2) on process at /a is up and answers at 127.64.0.1:3128")}},
		{"and healthy", up, ready, []events.Event{normal("Healthy", "probes get through")}},
		{"both at once", creating, ready, []events.Event{
			normal("Created", "proxy-x (incarnation 2) on process at /a is up and answers at 127.64.0.1:3128"), normal("Healthy", "probes get through"),
		}},
		{"nothing new", ready, ready, nil},
		{"another latency", ready, told(crawl.PhaseReady, yes, wire.ReasonCreated, "", at, verdict(yes, "Slow", "900 ms")), nil},
		{"a look that fails", ready, told(crawl.PhaseReady, yes, wire.ReasonTransient, "timeout", at, verdict(yes, "Healthy", "")), nil},
		{"probes fail", ready, sick, []events.Event{warning("Unhealthy", "probes fail: Dead: connection refused")}},
		{"probes fail from the start", up, sick, []events.Event{warning("Unhealthy", "probes fail: Dead: connection refused")}},
		{"they fail in another way", sick, told(crawl.PhaseUnhealthy, yes, wire.ReasonCreated, "", at, verdict(no, "AuthenticationRequired", "")), nil},
		{"probes get through again", sick, ready, []events.Event{normal("Healthy", "probes get through")}},
		{"the last lease is waited for", ready, draining, []events.Event{normal("Draining", "waiting for the last lease: the spec changed")}},
		{"a replacement after that", draining, replacing, []events.Event{normal("Replacing", "another instance is to take the place: the spec changed")}},
		{"its deletion goes on", replacing, told(crawl.PhaseReplacing, no, wire.ReasonReplacing, ""), nil},
		{"its deletion is refused", replacing, told(crawl.PhaseReplacing, no, wire.ReasonTransient, "timeout"), nil},
		{"another instance has to go, too", replacing, told(crawl.PhaseReplacing, no, wire.ReasonReplacing, "the proxy lives elsewhere now"), []events.Event{
			normal("Replacing", "another instance is to take the place: the proxy lives elsewhere now"),
		}},
		{"the next one is up", ready, told(crawl.PhaseProvisioning, yes, wire.ReasonCreated, "", at, incarnation(9)), []events.Event{
			normal("Created", "proxy-x (incarnation 9) on process at /a is up and answers at 127.64.0.1:3128"),
		}},
		{"the provider has no room", creating, quota, []events.Event{warning("QuotaExceeded", "the provider has no room: no room in zone-a")}},
		{"and still has none", quota, quota, nil},
		{"nor in another zone", quota, told(crawl.PhaseWaiting, no, wire.ReasonQuota, "no room in zone-b"), []events.Event{
			warning("QuotaExceeded", "the provider has no room: no room in zone-b"),
		}},
		{"too many were lost", ready, told(crawl.PhaseWaiting, no, wire.ReasonBudget, "the next at noon"), []events.Event{
			warning("CreationBudget", "too many instances were lost: the next at noon"),
		}},
		{"nobody serves the provider", creating, told(crawl.PhaseWaiting, no, wire.ReasonUnavailable, "is it in the providers file?"), []events.Event{
			warning("WaitingForProvider", "nobody serves the provider: is it in the providers file?"),
		}},
		{"nobody serves it while it is deleted", ready, told(crawl.PhaseDeleting, no, wire.ReasonUnavailable, "is it in the providers file?"), []events.Event{
			warning("WaitingForProvider", "nobody serves the provider: is it in the providers file?"),
		}},
		{"another cluster", ready, told(crawl.PhaseWaiting, yes, wire.ReasonWrongCluster, "this is c2", at), []events.Event{
			warning("WrongCluster", "left as it is: this is c2"),
		}},
		{"a permanent failure", creating, told(crawl.PhaseFailed, no, wire.ReasonPermanent, "no such image"), []events.Event{
			warning("Failed", "it stays so until something changes: no such image"),
		}},
		{"a Secret that is missing while the instance serves", ready, told(crawl.PhaseReady, yes, wire.ReasonCloudInit, "no Secret x", at, verdict(yes, "Healthy", "")), []events.Event{
			warning("Failed", "it stays so until something changes: no Secret x"),
		}},
		{"the address was banned, and drains", ready, banned, []events.Event{
			normal("Draining", "waiting for the last lease: "+bans), warning("Banned", "targets refuse the address: "+bans),
		}},
		{"its instance goes", banned, bannedGoes, nil},
		{"one that serves nobody goes at once", sick, bannedGoes, []events.Event{warning("Banned", "targets refuse the address: "+bans)}},
		{"the next one has the same address", creating, told(crawl.PhaseReplacing, no, wire.ReasonBanned, again), []events.Event{warning("Banned", "targets refuse the address: "+again)}},
		{"which stays in the end", up, same, []events.Event{warning("SameAddress", "left in service: "+gone), normal("Healthy", "probes get through")}},
		{"and is told once", same, same, nil},
		{"an endpoint of somebody else was banned", external, told(crawl.PhaseProvisioning, yes, wire.ReasonBanned, bans, func(s *crawl.ProxyStatus) { s.Instances = nil }), []events.Event{
			warning("Banned", "targets refuse the address: "+bans),
		}},
		{"an endpoint of somebody else is not created", crawl.ProxyStatus{}, external, nil},
		{"nor is an instance that is deleted", ready, told(crawl.PhaseDeleting, no, wire.ReasonDeleting, "deleting proxy-x"), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, changes(&tt.old, &tt.now)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFarewell(t *testing.T) {
	gone := events.Normal("Deleted", "nothing is left of it")
	if diff := cmp.Diff(gone, farewell(nil)); diff != "" {
		t.Errorf("with an empty ledger (-want +got):\n%s", diff)
	}
	left := events.Warning("Abandoned",
		"left behind, as annotation crawl.example.com/skip-cleanup asks: proxy-x (incarnation 1) on gcp at zone-a, proxy-x (incarnation 4) on squid, which could not be reached and still has our marks: an orphan sweep deletes it once it can")
	ledger := []wire.Abandoned{
		{Entry: wire.Entry{Provider: "gcp", Place: "zone-a", Name: "proxy-x", Incarnation: 1}},
		{Entry: wire.Entry{Provider: "squid", Name: "proxy-x", Incarnation: 4}, Marked: true},
	}
	if diff := cmp.Diff(left, farewell(ledger)); diff != "" {
		t.Errorf("with instances (-want +got):\n%s", diff)
	}
}
