package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/server"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/internal/eventually"
)

// TestThePartsNeedTheRightsOfTheirServiceAccountOnly runs an installation as deploy/rbac
// has it: what a part may not do fails here, and not in somebody's cluster.
func TestThePartsNeedTheRightsOfTheirServiceAccountOnly(t *testing.T) {
	config := localtest.ControlPlane(t)
	live := localtest.Client(t, config)
	apply := exec.Command("kubectl", "--kubeconfig", localtest.Kubeconfig(t, config), "apply", "-f", "deploy/rbac") // #nosec G204 -- files of this repository
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("apply deploy/rbac: %v\n%s", err, out)
	}
	ns := localtest.Namespace(t, live, "rights")
	limited := rest.CopyConfig(config)
	limited.Impersonate.UserName = "system:serviceaccount:fairlead-system:fairlead"
	temporal, namespace := localtest.Temporal(t)
	providers, address := someProviders(t), freeAddresses(t, 1)[0]
	tokens, token := filepath.Join(t.TempDir(), "tokens.yaml"), filepath.Join(t.TempDir(), "token")
	if err := server.EnsureOperatorToken(tokens, token); err != nil {
		t.Fatal(err)
	}
	said := map[string]*output{}
	for part, flags := range map[string][]string{
		"worker":  {"--providers", providers, "--api-url", "http://" + address, "--api-token-file", token},
		"starter": {"--providers", providers, "--leader-elect", "--leader-election-namespace", "fairlead-system"},
		"api":     {"--http-address", address, "--tokens", tokens, "--leases", filepath.Join(t.TempDir(), "leases.db"), "--only", "proxies,addons"},
	} {
		said[part] = launchPart(t, part, limited, temporal, namespace, append(flags, "--namespace", ns)...)
	}
	p := &crawl.Proxy{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "p"},
		Spec: crawl.ProxySpec{
			Provider: "process", AuthSecretRef: &crawl.LocalSecretRef{Name: "login"},
			HealthCheck: &crawl.HealthCheck{URL: "http://" + address + "/healthz"},
		},
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "login", Labels: map[string]string{crawl.LabelCloudInit: "true"}},
		StringData: map[string]string{"username": "u", "password": "p"},
	}
	for _, o := range []client.Object{secret, p} {
		if err := live.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	becomesReady := func(than int64) {
		t.Helper()
		eventually.Sees(t, "the Proxy is Ready with a new instance", time.Minute, func() (bool, string) {
			if err := live.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
				return false, err.Error()
			}
			now := p.Status.Current()
			return p.Status.IsTrue(crawl.ConditionReady) && now.Incarnation > than, fmt.Sprintf("%+v", p.Status)
		})
	}
	becomesReady(0)
	first := p.Status.Current().Incarnation

	ask, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/v1/proxies/"+ns+"/p/replace", nil)
	if err != nil {
		t.Fatal(err)
	}
	bearer, err := os.ReadFile(token) // #nosec G304 -- made above
	if err != nil {
		t.Fatal(err)
	}
	ask.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(bearer)))
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusAccepted {
		t.Errorf("replace answers %s", answer.Status)
	}
	becomesReady(first)
	addonsAreServed(t, live, address, strings.TrimSpace(string(bearer)))

	if err := live.Delete(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	eventually.Sees(t, "the Proxy is gone", time.Minute, func() (bool, string) {
		err := live.Get(t.Context(), client.ObjectKeyFromObject(p), p)
		return apierrors.IsNotFound(err), fmt.Sprintf("%v %+v", err, p.Status)
	})
	eventually.Sees(t, "an Event tells of the deletion, and the health of the provider is written", time.Minute, func() (bool, string) {
		var events corev1.EventList
		var health crawl.ProviderHealth
		if err := live.List(t.Context(), &events, client.InNamespace(ns)); err != nil {
			return false, err.Error()
		}
		var reasons []string
		for i := range events.Items {
			reasons = append(reasons, events.Items[i].Reason)
		}
		err := live.Get(t.Context(), client.ObjectKey{Name: "process"}, &health)
		return err == nil && strings.Contains(strings.Join(reasons, " "), "Deleted"), fmt.Sprint(reasons, err)
	})
	for part, out := range said {
		if text := out.String(); strings.Contains(text, "forbidden") {
			t.Errorf("the %s may not do all that it does:\n%s", part, text)
		}
	}
}
