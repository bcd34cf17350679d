package object_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

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
		if err := a.Client.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"example.com/other"}, p.Finalizers); diff != "" {
			t.Errorf("finalizers (-want +got):\n%s", diff)
		}
	})
	t.Run("the limit of bans, with the window of the CRD", func(t *testing.T) {
		p, unlimited := managed(ns, "limited"), managed(ns, "unlimited")
		p.Spec.Replacement = &crawl.Replacement{Bans: &crawl.BanLimit{Count: 3}}
		unlimited.Spec.Replacement = &crawl.Replacement{}
		if diff := cmp.Diff(&wire.BanLimit{Count: 3, Window: 10 * time.Minute}, claim(t, create(t, a, p)).Bans); diff != "" {
			t.Errorf("limit (-want +got):\n%s", diff)
		}
		if got := claim(t, create(t, a, unlimited)).Bans; got != nil {
			t.Errorf("limit = %+v, want none", got)
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
