package sweep

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/temporal/wire"
)

func TestHealthStatus(t *testing.T) {
	before, at := metav1.NewTime(now.Add(-time.Hour)), metav1.NewTime(now)
	former := crawl.ProviderHealthStatus{Targets: []crawl.TargetHealth{
		{Name: "a", Ready: true, LastTransitionTime: &before},
		{Name: "b", Ready: true, LastTransitionTime: &before},
		{Name: "gone", Ready: true, LastTransitionTime: &before},
	}}
	got := healthStatus(former, "kvm", unique([]provider.TargetStatus{
		{Name: "b", Reason: "Unreachable", Message: "dial qemu+ssh://root:canary@b/: no route"},
		{Name: "c", Ready: true, Reason: "Ready", Details: map[string]string{"free": "10 GiB"}},
		{Name: "a", Ready: true, Reason: "Ready"},
		{Name: "b", Ready: true, Reason: "Ready"}, // told twice: the worse counts
	}), now)
	want := crawl.ProviderHealthStatus{
		Type: "kvm", Ready: metav1.ConditionFalse, Summary: "2/3", LastCheckTime: &at,
		Targets: []crawl.TargetHealth{
			{Name: "a", Ready: true, Reason: "Ready", LastTransitionTime: &before},
			{Name: "b", Reason: "Unreachable", Message: "dial qemu+ssh://***@b/: no route", LastTransitionTime: &at},
			{Name: "c", Ready: true, Reason: "Ready", Details: map[string]string{"free": "10 GiB"}, LastTransitionTime: &at},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if got := healthStatus(former, "kvm", nil, now); got.Ready != metav1.ConditionUnknown || got.Summary != "0/0" {
		t.Errorf("without targets: ready %s, summary %s", got.Ready, got.Summary)
	}
	if got := healthStatus(former, "kvm", []provider.TargetStatus{{Name: "a", Ready: true}}, now); got.Ready != metav1.ConditionTrue || got.Summary != "1/1" {
		t.Errorf("with all targets ready: ready %s, summary %s", got.Ready, got.Summary)
	}
}

func TestProviderHealth(t *testing.T) {
	live, ns := apiServer(t)
	b := &backend{targets: []provider.TargetStatus{{Name: "host-a", Ready: true, Reason: "Ready"}, {Name: "host-b", Reason: "Unreachable", Message: "no route"}}}
	at := now
	p := &Provider{
		Name: "ph-" + ns, Type: "kvm", Provider: b, Cache: within{live, ns}, Live: live, Workflows: &calls{},
		Orphans: DefaultOrphans(), Metrics: newMetrics(t), Log: localtest.Quiet(), Now: func() time.Time { return at },
	}
	sweep := func(t *testing.T) (*crawl.ProviderHealth, wire.Sweep, error) {
		t.Helper()
		r, err := p.Sweep(t.Context(), wire.SweepInput{})
		h := &crawl.ProviderHealth{}
		if err := live.Get(t.Context(), client.ObjectKey{Name: p.Name}, h); err != nil {
			t.Fatal(err)
		}
		return h, r, err
	}
	transitions := func(h *crawl.ProviderHealth) string {
		var all []string
		for _, target := range h.Status.Targets {
			all = append(all, fmt.Sprintf("%s %v %s", target.Name, target.Ready, target.LastTransitionTime.UTC().Format(time.TimeOnly)))
		}
		return strings.Join(all, ", ")
	}
	t.Run("the first sweep makes it", func(t *testing.T) {
		h, r, err := sweep(t)
		if err != nil || r.Problem != "" {
			t.Fatal(err, r.Problem)
		}
		if s := h.Status; s.Type != "kvm" || s.Ready != metav1.ConditionFalse || s.Summary != "1/2" || !s.LastCheckTime.Time.Equal(now) {
			t.Errorf("status = %+v", s)
		}
		if got, want := transitions(h), "host-a true 12:00:00, host-b false 12:00:00"; got != want {
			t.Errorf("transitions %q, want %q", got, want)
		}
	})
	t.Run("a steady target keeps its time, one that comes back has a new one", func(t *testing.T) {
		at = now.Add(time.Minute)
		b.targets[1] = provider.TargetStatus{Name: "host-b", Ready: true}
		h, _, err := sweep(t)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := transitions(h), "host-a true 12:00:00, host-b true 12:01:00"; got != want {
			t.Errorf("transitions %q, want %q", got, want)
		}
		if h.Status.Ready != metav1.ConditionTrue || h.Status.Summary != "2/2" {
			t.Errorf("status = %+v", h.Status)
		}
	})
	t.Run("a failed listing is told by the check all the same", func(t *testing.T) {
		at = now.Add(2 * time.Minute)
		b.targets = b.targets[:1]
		b.targets[0].Ready, b.fail = false, errors.New("unreachable")
		h, _, err := sweep(t)
		if err == nil || !strings.Contains(err.Error(), "list the instances of provider "+p.Name) {
			t.Errorf("the sweep ended with %v", err)
		}
		if got, want := transitions(h), "host-a false 12:02:00"; got != want {
			t.Errorf("transitions %q, want %q", got, want)
		}
		b.fail = nil
	})
	t.Run("the largest one fits", func(t *testing.T) {
		b.targets = nil
		for i := range 1000 {
			target := provider.TargetStatus{Name: fmt.Sprintf("host-%03d", i), Ready: i != 999, Message: strings.Repeat("ü", 4000), Details: map[string]string{}}
			for k := range 40 {
				target.Details[fmt.Sprint(k)] = strings.Repeat("d", 4000)
			}
			b.targets = append(b.targets, target)
		}
		h, r, err := sweep(t)
		if err != nil || r.Problem != "" {
			t.Fatal(err, r.Problem)
		}
		if n := len(h.Status.Targets); n != maxTargets || h.Status.Summary != "999/1000" {
			t.Errorf("%d targets, summary %s", n, h.Status.Summary)
		}
		if find(h.Status.Targets, "host-999") == nil {
			t.Error("the one that is down was cut")
		}
	})
	t.Run("one without a label becomes ours", func(t *testing.T) {
		b.targets = b.targets[:1]
		h, _, err := sweep(t)
		if err != nil {
			t.Fatal(err)
		}
		h.Labels = map[string]string{"example.com/other": "kept"}
		if err := live.Update(t.Context(), h); err != nil {
			t.Fatal(err)
		}
		h, r, err := sweep(t)
		if err != nil || r.Problem != "" {
			t.Fatal(err, r.Problem)
		}
		want := map[string]string{labelManagedBy: managedBy, "example.com/other": "kept"}
		if diff := cmp.Diff(want, h.Labels); diff != "" {
			t.Errorf("labels (-want +got):\n%s", diff)
		}
	})
	t.Run("one with somebody else's keeps it", func(t *testing.T) {
		theirs := &crawl.ProviderHealth{ObjectMeta: metav1.ObjectMeta{Name: "theirs-" + ns, Labels: map[string]string{labelManagedBy: "somebody"}}}
		if err := live.Create(t.Context(), theirs); err != nil {
			t.Fatal(err)
		}
		other := *p
		other.Name = theirs.Name
		if r, err := other.Sweep(t.Context(), wire.SweepInput{}); err != nil || r.Problem != "" {
			t.Fatal(err, r.Problem)
		}
		if err := live.Get(t.Context(), client.ObjectKeyFromObject(theirs), theirs); err != nil || theirs.Labels[labelManagedBy] != "somebody" {
			t.Errorf("error %v, labels %v", err, theirs.Labels)
		}
	})
	t.Run("it goes when its provider has certainly left the file", func(t *testing.T) {
		file := &names{uncertain: true}
		o := &Objects{Cache: within{live, ns}, Live: live, Workflows: &calls{}, Providers: file, Log: localtest.Quiet()}
		if r, err := o.Sweep(t.Context()); err != nil || len(r.Pruned) > 0 {
			t.Errorf("with an unreadable file: pruned %v, error %v", r.Pruned, err)
		}
		file.uncertain, file.names = false, []string{p.Name}
		if r, err := o.Sweep(t.Context()); err != nil || len(r.Pruned) > 0 {
			t.Errorf("while it is in the file: pruned %v, error %v", r.Pruned, err)
		}
		file.names, o.Shared = []string{"other"}, true
		if r, err := o.Sweep(t.Context()); err != nil || len(r.Pruned) > 0 {
			t.Errorf("where others keep theirs too: pruned %v, error %v", r.Pruned, err)
		}
		o.Shared = false
		unlabelled := &crawl.ProviderHealth{ObjectMeta: metav1.ObjectMeta{Name: "unlabelled-" + ns}}
		if err := live.Create(t.Context(), unlabelled); err != nil {
			t.Fatal(err)
		}
		r, err := o.Sweep(t.Context())
		if diff := cmp.Diff([]string{p.Name}, r.Pruned); diff != "" || err != nil {
			t.Errorf("error %v, pruned (-want +got):\n%s", err, diff)
		}
		if err := live.Get(t.Context(), client.ObjectKey{Name: p.Name}, &crawl.ProviderHealth{}); client.IgnoreNotFound(err) != nil || err == nil {
			t.Errorf("it is still there: %v", err)
		}
	})
}

// names is a providers file.
type names struct {
	names     []string
	uncertain bool
}

func (n *names) Names() []string { return n.names }
func (n *names) Certain() bool   { return !n.uncertain }
