package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/fairlead/api/crawl/ref"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/internal/eventually"
	"example.com/fairlead/temporal/wire"
)

func TestElectionNamespace(t *testing.T) {
	live := localtest.Client(t, localtest.ControlPlane(t))
	pod := filepath.Join(t.TempDir(), "namespace")
	if err := os.WriteFile(pod, []byte("kube-public\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const missing = `there is no namespace "nowhere": make it, or name another one with --leader-election-namespace`
	tests := []struct{ name, given, podFile, want, err string }{
		{name: "the given one", given: "kube-system", podFile: pod, want: "kube-system"},
		{name: "that of the pod", podFile: pod, want: "kube-public"},
		{name: "default outside of pods", podFile: pod + ".none", want: "default"},
		{name: "one that does not exist", given: "nowhere", podFile: pod, err: missing},
		{name: "an unreadable file", podFile: filepath.Dir(pod), err: "--leader-election-namespace"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := findElectionNamespace(t.Context(), tt.given, tt.podFile, live)
			if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %q, %v, want %q, %q", got, err, tt.want, tt.err)
			}
		})
	}
}

func TestAddressOfMetricsOrHealthThatCannotBeServedNamesItsFlag(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	taken := l.Addr().String()
	for _, tt := range []struct {
		settings managerSettings
		want     []string
	}{
		{managerSettings{metricsAddress: taken}, []string{taken, fmt.Sprintf("process %d", os.Getpid()), "--metrics-address"}},
		{managerSettings{healthAddress: taken}, []string{taken, fmt.Sprintf("process %d", os.Getpid()), "--health-address"}},
		{managerSettings{metricsAddress: ":9102", healthAddress: ":9102"}, []string{"--metrics-address and --health-address are both :9102"}},
		{managerSettings{namespaces: []string{"crawlers", ""}}, []string{"--namespace"}},
		{managerSettings{only: []string{"proxies", "nodes"}}, []string{`--only "nodes" is none of proxies and addons`}},
		{managerSettings{metricsAddress: "9102"}, []string{"--metrics-address", "9102"}},
	} {
		err := tt.settings.check()
		for _, want := range tt.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v gave %v, want it to say %q", tt.settings, err, want)
			}
		}
	}
}

func TestWhatIsKept(t *testing.T) {
	for name, test := range map[string]struct {
		settings        managerSettings
		proxies, addons bool
		election        string
	}{
		"by default":                           {managerSettings{}, true, true, "fairlead-starter"},
		"proxies only":                         {managerSettings{only: []string{"proxies"}}, true, false, "fairlead-starter"},
		"add-ons only":                         {managerSettings{only: []string{"addons"}}, false, true, "fairlead-starter-addons"},
		"both by name":                         {managerSettings{only: []string{"addons", "proxies"}}, true, true, "fairlead-starter"},
		"of a namespace":                       {managerSettings{namespaces: []string{"a"}}, true, false, "fairlead-starter"},
		"of a namespace, with add-ons by name": {managerSettings{namespaces: []string{"a"}, only: []string{"proxies", "addons"}}, true, true, "fairlead-starter"},
	} {
		t.Run(name, func(t *testing.T) {
			s := test.settings
			if s.keepsProxies() != test.proxies || s.keepsAddons() != test.addons || s.electionID() != test.election {
				t.Errorf("it keeps Proxies: %v, Addons: %v, and elects as %s; want %+v", s.keepsProxies(), s.keepsAddons(), s.electionID(), test)
			}
		})
	}
}

func TestStarterTellsHealthAndMetrics(t *testing.T) {
	config := localtest.ControlPlane(t)
	address, namespace := localtest.Temporal(t)
	p := startPart(t, "starter", config, address, namespace, "--leader-elect", "--providers", someProviders(t))
	p.becomes(t, "/readyz", http.StatusOK)
	p.becomes(t, "/healthz", http.StatusOK)
	p.measures(t, "go_goroutines", `leader_election_master_status{name="fairlead-starter"} 1`, "controller_runtime_max_concurrent_reconciles")
	lease := types.NamespacedName{Namespace: "default", Name: "fairlead-starter"}
	if err := localtest.Client(t, config).Get(t.Context(), lease, &coordinationv1.Lease{}); err != nil {
		t.Errorf("the election left nothing in the default namespace: %v", err)
	}
}

func TestOnlyTheNamespacesThatWereNamedAreLookedAt(t *testing.T) {
	config := localtest.ControlPlane(t)
	address, namespace := localtest.Temporal(t)
	temporal := localtest.DialTemporal(t, address, namespace)
	live := localtest.Client(t, config)
	started := map[string]func() bool{}
	var names []string
	for _, which := range []string{"theirs", "ours"} { // ours last: theirs had its time then
		ns := localtest.Namespace(t, live, which)
		p := &crawl.Proxy{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "p"}, Spec: crawl.ProxySpec{Provider: "local"}}
		if err := live.Create(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		names = append(names, ns)
		id := wire.ProxyID(ref.Of(p))
		started[which] = func() bool {
			_, err := temporal.DescribeWorkflow(t.Context(), id, "")
			return err == nil
		}
	}
	launchPart(t, "starter", config, address, namespace, "--namespace", names[1], "--providers", someProviders(t))
	eventually.Until(t, "the workflow of our Proxy is started", started["ours"])
	if started["theirs"]() {
		t.Error("the workflow of a Proxy of another namespace was started")
	}
}

func TestWorkerIsReadyWhileTemporalAnswers(t *testing.T) {
	config := localtest.ControlPlane(t)
	address, namespace := localtest.Temporal(t)
	way := newRelay(t, "127.0.0.1:0", address)
	p := startPart(t, "worker", config, way.Addr().String(), namespace, "--providers", someProviders(t), "--only", "proxies")
	p.becomes(t, "/readyz", http.StatusOK)
	p.measures(t, "rest_client_requests_total", "go_goroutines")
	way.cut()
	p.becomes(t, "/readyz", http.StatusInternalServerError)
	p.becomes(t, "/healthz", http.StatusOK)
}
