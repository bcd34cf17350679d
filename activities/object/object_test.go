package object_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/object"
	"example.com/fairlead/activities/outcome"
	"example.com/fairlead/activities/provider"
	"example.com/fairlead/api/crawl/ref"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/temporal/wire"
)

func TestMain(m *testing.M) { os.Exit(localtest.Main(m)) }

// onePlace is a provider of which only Places is asked.
type onePlace struct{ provider.Provider }

func (onePlace) Places(context.Context, string, *crawl.ProxySpec) ([]string, error) {
	return []string{"zone-a"}, nil
}

// file is a providers file with one provider.
type file struct{}

func (file) Config(name string) string { return "config of " + name }

func (file) Get(name string) (provider.Provider, error) {
	if name != "known" {
		return nil, errors.New("unknown provider: the file has known")
	}
	return onePlace{}, nil
}

func newActivities(t *testing.T) (*object.Activities, string) {
	t.Helper()
	c := localtest.Client(t, localtest.ControlPlane(t))
	return &object.Activities{Client: c, Providers: file{}}, localtest.Namespace(t, c, "object")
}

func create(t *testing.T, a *object.Activities, p *crawl.Proxy) wire.ProxyRef {
	t.Helper()
	if err := a.Client.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	return ref.Of(p)
}

func managed(ns, name string) *crawl.Proxy {
	return &crawl.Proxy{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Spec: crawl.ProxySpec{Provider: "known"}}
}

func TestClaim(t *testing.T) {
	a, ns := newActivities(t)
	claim := func(t *testing.T, ref wire.ProxyRef) wire.Claim {
		t.Helper()
		c, err := a.Claim(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	t.Run("a managed proxy gets the finalizer before anything else", func(t *testing.T) {
		p := managed(ns, "new")
		ref := create(t, a, p)
		c := claim(t, ref)
		if err := a.Client.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{crawl.Finalizer}, p.Finalizers); diff != "" {
			t.Errorf("finalizers (-want +got):\n%s", diff)
		}
		if c.Gone || c.Deleting || c.Provider != "known" || c.ProviderConfig != "config of known" || c.Hash == "" || c.Problem != nil {
			t.Errorf("claim = %+v", c)
		}
		if diff := cmp.Diff([]string{"zone-a"}, c.Places); diff != "" {
			t.Errorf("places (-want +got):\n%s", diff)
		}
	})
	t.Run("a given cluster is the cluster", func(t *testing.T) {
		ref := create(t, a, managed(ns, "restored"))
		own := claim(t, ref).ClusterID
		a.Cluster = "former"
		defer func() { a.Cluster = "" }()
		if given := claim(t, ref).ClusterID; given != "former" || own == "" || own == given {
			t.Errorf("clusters %q by itself and %q as given", own, given)
		}
	})
	t.Run("an object that is already being deleted gets no finalizer", func(t *testing.T) {
		p := managed(ns, "going")
		p.Finalizers = []string{"example.com/other"}
		ref := create(t, a, p)
		if err := a.Client.Delete(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if c := claim(t, ref); !c.Deleting {
			t.Errorf("claim = %+v, want Deleting", c)
		}
	})
	t.Run("another object of the same name is another proxy", func(t *testing.T) {
		ref := create(t, a, managed(ns, "twin"))
		ref.UID = "other"
		if c := claim(t, ref); !c.Gone {
			t.Errorf("claim = %+v, want Gone", c)
		}
	})
	t.Run("an unknown provider is a problem that names the known ones", func(t *testing.T) {
		p := managed(ns, "lost")
		p.Spec.Provider = "nowhere"
		want := &wire.Problem{Reason: wire.ReasonUnavailable, Message: "unknown provider: the file has known"}
		if diff := cmp.Diff(want, claim(t, create(t, a, p)).Problem); diff != "" {
			t.Errorf("problem (-want +got):\n%s", diff)
		}
	})
	t.Run("credentials that no proxy can ask for are a problem, not another shape", func(t *testing.T) {
		p := managed(ns, "guarded")
		p.Spec.AuthSecretRef = &crawl.LocalSecretRef{Name: "auth"}
		s := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "auth", Labels: map[string]string{crawl.LabelCloudInit: "true"}},
			StringData: map[string]string{"username": "u", "password": "canary\n"},
		}
		if err := a.Client.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		c := claim(t, create(t, a, p))
		if c.Problem == nil || c.Problem.Reason != wire.ReasonCredentials || c.Hash != "" || strings.Contains(c.Problem.Message, "canary") {
			t.Errorf("claim = %+v, problem = %+v", c, c.Problem)
		}
	})
	t.Run("a Secret that is missing, unlabelled, repaired and rotated", func(t *testing.T) {
		p := managed(ns, "secretive")
		p.Spec.CloudInit = &crawl.CloudInit{SecretRef: &crawl.SecretKeyRef{Name: "init", Key: "userData"}}
		ref := create(t, a, p)
		reason := func(c wire.Claim) string {
			if c.Problem == nil {
				return ""
			}
			return c.Problem.Reason
		}
		missing := claim(t, ref)
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "init"}, StringData: map[string]string{"userData": "#cloud-config"}}
		if err := a.Client.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		unlabelled := claim(t, ref)
		s.Labels = map[string]string{crawl.LabelCloudInit: "true"}
		if err := a.Client.Update(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		repaired := claim(t, ref)
		s.StringData = map[string]string{"userData": "#cloud-config\n# 2"}
		if err := a.Client.Update(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		rotated := claim(t, ref)
		want := []string{wire.ReasonCloudInit, wire.ReasonCloudInit, "", ""}
		if diff := cmp.Diff(want, []string{reason(missing), reason(unlabelled), reason(repaired), reason(rotated)}); diff != "" {
			t.Errorf("problems (-want +got):\n%s", diff)
		}
		if missing.Inputs != unlabelled.Inputs {
			t.Error("an unlabelled Secret changes the inputs, but nobody watches it")
		}
		if unlabelled.Inputs == repaired.Inputs || repaired.Inputs == rotated.Inputs || repaired.Hash == rotated.Hash {
			t.Error("a repaired or rotated Secret does not change inputs and hash")
		}
	})
}

func TestPublish(t *testing.T) {
	a, ns := newActivities(t)
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	status := func(sequence int64, phase string) wire.ProxyStatus {
		return wire.ProxyStatus{
			Sequence: sequence, Phase: phase, Host: "127.64.0.1", Port: 3128,
			Recreations: []time.Time{since},
			Ledger:      []wire.Entry{{Provider: "known", Place: "zone-a", Name: "proxy-x", Incarnation: 1, AttemptUntil: since}},
			Conditions:  []wire.Condition{{Type: wire.ConditionReady, Status: wire.True, Reason: "Ready", Since: since}},
		}
	}
	ref := create(t, a, managed(ns, "published"))
	publish := func(s wire.ProxyStatus) error {
		return a.Publish(context.WithoutCancel(t.Context()), wire.PublishInput{Proxy: ref, Status: s})
	}
	if err := publish(status(5, wire.PhaseReady)); err != nil {
		t.Fatal(err)
	}
	t.Run("what is published is what is claimed", func(t *testing.T) {
		c, err := a.Claim(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(status(5, wire.PhaseReady), c.Stored); diff != "" {
			t.Errorf("status (-published +claimed):\n%s", diff)
		}
	})
	t.Run("the same status again is stored already", func(t *testing.T) {
		if err := publish(status(5, wire.PhaseReady)); err != nil {
			t.Error(err)
		}
	})
	t.Run("a status that the API server will never take is permanent", func(t *testing.T) {
		if err := publish(status(6, "NoSuchPhase")); !errors.Is(err, provider.ErrPermanent) {
			t.Errorf("error = %v, want ErrPermanent", err)
		}
	})
	for name, s := range map[string]wire.ProxyStatus{
		"an older status is superseded":                         status(4, wire.PhaseReady),
		"another status of the same sequence is superseded":     status(5, wire.PhaseFailed),
		"a status of an object that is gone is superseded, too": status(6, wire.PhaseReady),
	} {
		t.Run(name, func(t *testing.T) {
			to := ref
			if s.Sequence == 6 {
				to.UID = "gone"
			}
			err := a.Publish(t.Context(), wire.PublishInput{Proxy: to, Status: s})
			if !errors.Is(err, outcome.ErrSuperseded) {
				t.Errorf("error = %v, want outcome.ErrSuperseded", err)
			}
		})
	}
}

func TestRelease(t *testing.T) {
	a, ns := newActivities(t)
	p := managed(ns, "released")
	ref := create(t, a, p)
	if _, err := a.Claim(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	t.Run("an object that is not being deleted keeps its finalizer", func(t *testing.T) {
		if err := a.Release(t.Context(), wire.ReleaseInput{ProxyRef: ref}); !errors.Is(err, outcome.ErrSuperseded) {
			t.Errorf("error = %v, want outcome.ErrSuperseded", err)
		}
	})
	t.Run("a deleted object goes, and releasing it again is no error", func(t *testing.T) {
		if err := a.Client.Delete(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := a.Release(t.Context(), wire.ReleaseInput{ProxyRef: ref}); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Client.Get(t.Context(), client.ObjectKeyFromObject(p), p); client.IgnoreNotFound(err) != nil || err == nil {
			t.Errorf("get = %v, want not found", err)
		}
	})
}

func TestAnObjectOfAnotherOperator(t *testing.T) {
	a, ns := newActivities(t)
	const legacy = "proxies.example.com/cleanup"
	a.LegacyFinalizer = legacy
	p := managed(ns, "adopted")
	p.Finalizers = []string{legacy, "example.com/other"}
	ref := create(t, a, p)
	p.Status.Phase, p.Status.ProviderID, p.Status.IP = crawl.PhaseReady, "hosts/h/domains/x", "10.0.0.1"
	if err := a.Client.Status().Update(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	want := []wire.Entry{{Provider: "known", Place: "zone-a", Name: provider.InstanceName(ref.UID), Incarnation: 1}}
	for _, deleted := range []bool{false, true} {
		if deleted {
			if err := a.Client.Delete(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		}
		c, err := a.Claim(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, c.Stored.Ledger); diff != "" {
			t.Errorf("ledger, deleted %v (-want +got):\n%s", deleted, diff)
		}
	}
	if err := a.Release(t.Context(), wire.ReleaseInput{ProxyRef: ref}); err != nil {
		t.Fatal(err)
	}
	if err := a.Client.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"example.com/other"}, p.Finalizers); diff != "" {
		t.Errorf("finalizers after the release (-want +got):\n%s", diff)
	}
}

// TestWords holds the words of the wire package to those of the API type.
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
	}
	for _, p := range pairs {
		if p[0] != p[1] {
			t.Errorf("wire says %q, the API type %q", p[0], p[1])
		}
	}
}
