package object_test

import (
	"testing"

	"example.com/fairlead/activities/probe"
	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// TestWords holds the words of the wire package to those of the packages that it must
// not know.
func TestWords(t *testing.T) {
	pairs := [][2]string{
		{wire.PhasePending, string(crawl.PhasePending)},
		{wire.PhaseProvisioning, string(crawl.PhaseProvisioning)},
		{wire.PhaseReady, string(crawl.PhaseReady)},
		{wire.PhaseUnhealthy, string(crawl.PhaseUnhealthy)},
		{wire.PhaseDraining, string(crawl.PhaseDraining)},
		{wire.PhaseReplacing, string(crawl.PhaseReplacing)},
		{wire.PhaseDeleting, string(crawl.PhaseDeleting)},
		{wire.PhaseWaiting, string(crawl.PhaseWaiting)},
		{wire.PhaseFailed, string(crawl.PhaseFailed)},
		{wire.ConditionProvisioned, crawl.ConditionProvisioned},
		{wire.ConditionHealthy, crawl.ConditionHealthy},
		{wire.ConditionReady, crawl.ConditionReady},
		{wire.AnnotationPaused, crawl.AnnotationPaused},
		{wire.AnnotationReplace, crawl.AnnotationReplace},
		{wire.AnnotationSkipCleanup, crawl.AnnotationSkipCleanup},
		{wire.StateProvisioning, string(provider.Provisioning)},
		{wire.StateRunning, string(provider.Running)},
		{wire.StateStopped, string(provider.Stopped)},
		{wire.StateHalted, string(provider.Halted)},
		{wire.StateUnknown, string(provider.Unknown)},
	}
	for _, p := range pairs {
		if p[0] != p[1] {
			t.Errorf("wire says %q, the others %q", p[0], p[1])
		}
	}
}

// TestVerdicts holds the verdicts of probes to the reasons that the wire package gives.
func TestVerdicts(t *testing.T) {
	for verdict, want := range map[probe.Verdict]string{
		probe.Healthy:   wire.ReasonHealthy,
		probe.Slow:      "Slow",
		probe.Dead:      "Dead",
		probe.Auth:      "AuthenticationRequired",
		probe.Forbidden: "ForbiddenByProxy",
		probe.Blocked:   "BlockedByTarget",
		probe.WrongExit: "WrongExit",
	} {
		if got := (wire.Health{Verdict: string(verdict)}).Reason(); got != want {
			t.Errorf("the reason of verdict %s is %s, want %s", verdict, got, want)
		}
	}
}
