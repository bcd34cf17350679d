package object

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fairlead/activities/events"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// Reasons of the Events that people look for.
const (
	eventCreated      = "Created"
	eventDraining     = "Draining"
	eventReplacing    = "Replacing"
	eventQuota        = "QuotaExceeded"
	eventBudget       = "CreationBudget"
	eventFailed       = "Failed"
	eventUnavailable  = "WaitingForProvider"
	eventWrongCluster = "WrongCluster"
	eventHealthy      = "Healthy"
	eventUnhealthy    = "Unhealthy"
	eventAbandoned    = "Abandoned"
	eventDeleted      = "Deleted"
	eventBanned       = "Banned"
	eventSameAddress  = "SameAddress"
)

// episodes are told when they begin, and when what there is to say of them changes:
// that is the message of the condition Provisioned.
var episodes = []struct {
	kind, reason, words string
	in                  func(phase crawl.Phase, reason string) bool
}{
	{corev1.EventTypeNormal, eventDraining, "waiting for the last lease", func(phase crawl.Phase, _ string) bool { return phase == crawl.PhaseDraining }},
	{corev1.EventTypeNormal, eventReplacing, "another instance is to take the place", func(phase crawl.Phase, reason string) bool {
		return phase == crawl.PhaseReplacing && reason == wire.ReasonReplacing // or the message is about something else
	}},
	{corev1.EventTypeWarning, eventBanned, "targets refuse the address", reasonIs(wire.ReasonBanned)},
	{corev1.EventTypeWarning, eventSameAddress, "left in service", reasonIs(wire.ReasonSameAddress)},
	{corev1.EventTypeWarning, eventQuota, "the provider has no room", reasonIs(wire.ReasonQuota)},
	{corev1.EventTypeWarning, eventBudget, "too many instances were lost", reasonIs(wire.ReasonBudget)},
	{corev1.EventTypeWarning, eventUnavailable, "nobody serves the provider", reasonIs(wire.ReasonUnavailable)},
	{corev1.EventTypeWarning, eventWrongCluster, "left as it is", reasonIs(wire.ReasonWrongCluster)},
	{corev1.EventTypeWarning, eventFailed, "it stays so until something changes", reasonIs(wire.ReasonPermanent, wire.ReasonCloudInit, wire.ReasonCredentials)},
}

func reasonIs(reasons ...string) func(crawl.Phase, string) bool {
	return func(_ crawl.Phase, reason string) bool { return slices.Contains(reasons, reason) }
}

// changes are what there is to tell when a status takes the place of an old one. It
// looks at nothing but its arguments.
func changes(old, now *crawl.ProxyStatus) []events.Event {
	var out []events.Event
	if e := up(now); e != nil && (up(old) == nil || up(old).Incarnation != e.Incarnation) {
		out = append(out, events.Normal(eventCreated, fmt.Sprintf("%s is up and answers at %s:%d", instanceWords(fromRecord(*e)), now.IP, now.Port)))
	}
	was, is := provisioned(old), provisioned(now)
	for _, e := range episodes {
		if !e.in(now.Phase, is.Reason) || e.in(old.Phase, was.Reason) && (is.Message == was.Message || is.Message == "") {
			continue
		}
		out = append(out, events.Event{Kind: e.kind, Reason: e.reason, Message: said(e.words, is.Message)})
	}
	return append(out, flip(old, now)...)
}

// up is the instance that serves, nil when none does.
func up(s *crawl.ProxyStatus) *crawl.InstanceRecord {
	if !s.IsTrue(crawl.ConditionProvisioned) {
		return nil
	}
	return s.Current()
}

func provisioned(s *crawl.ProxyStatus) metav1.Condition {
	if c := s.Condition(crawl.ConditionProvisioned); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// flip tells when the verdict of the probes turns. A new instance is not unhealthy
// for want of one.
func flip(old, now *crawl.ProxyStatus) []events.Event {
	was, is := old.Condition(crawl.ConditionHealthy), now.Condition(crawl.ConditionHealthy)
	switch {
	case is == nil || was != nil && was.Status == is.Status:
		return nil
	case is.Status == metav1.ConditionTrue:
		return []events.Event{events.Normal(eventHealthy, said("probes get through", is.Message))}
	case is.Status == metav1.ConditionFalse:
		return []events.Event{events.Warning(eventUnhealthy, said("probes fail: "+is.Reason, is.Message))}
	}
	return nil
}

// farewell is what there is to tell of an object that was let go. Its last status
// does not say: an instance that is gone is not taken out of it first.
func farewell(abandoned []wire.Abandoned) events.Event {
	if len(abandoned) == 0 {
		return events.Normal(eventDeleted, "nothing is left of it")
	}
	var left []string
	for _, a := range abandoned {
		words := instanceWords(a.Entry)
		if a.Marked {
			words += ", which could not be reached and still has our marks: an orphan sweep deletes it once it can"
		}
		left = append(left, words)
	}
	return events.Warning(eventAbandoned, "left behind, as annotation "+crawl.AnnotationSkipCleanup+" asks: "+strings.Join(left, ", "))
}

func instanceWords(e wire.Entry) string {
	words := fmt.Sprintf("%s (incarnation %d) on %s", e.Name, e.Incarnation, e.Provider)
	if e.Place != "" {
		words += " at " + e.Place
	}
	return words
}

func said(words, message string) string {
	if message == "" {
		return words
	}
	return words + ": " + message
}
