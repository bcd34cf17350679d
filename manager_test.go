package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"example.com/fairlead/api/crawl/ref"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/deploy/local/ports"
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
	p := startPart(t, "worker", config, way.Addr().String(), namespace, "--providers", someProviders(t))
	p.becomes(t, "/readyz", http.StatusOK)
	p.measures(t, "rest_client_requests_total", "go_goroutines")
	way.cut()
	p.becomes(t, "/readyz", http.StatusInternalServerError)
	p.becomes(t, "/healthz", http.StatusOK)
}

// someProviders is the path of a providers file.
func someProviders(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "providers.yaml")
	if err := writeDefaultProviders(file, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	return file
}

// freeAddresses are some that nobody else listens on.
func freeAddresses(t *testing.T, n int) []string {
	t.Helper()
	free, err := ports.Reserve(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(free.Release)
	var addresses []string
	for _, p := range free.Ports {
		addresses = append(addresses, fmt.Sprintf("127.0.0.1:%d", p))
	}
	return addresses
}

// part is one part of an installation, in a process of its own.
type part struct {
	metrics, health string
	out             *output
}

func startPart(t *testing.T, name string, config *rest.Config, temporal, namespace string, args ...string) part {
	t.Helper()
	free := freeAddresses(t, 2)
	p := part{metrics: free[0], health: free[1]}
	p.out = launchPart(t, name, config, temporal, namespace, append([]string{"--metrics-address", p.metrics, "--health-address", p.health}, args...)...)
	return p
}

// launchPart runs a part until the test ends.
func launchPart(t *testing.T, name string, config *rest.Config, temporal, namespace string, args ...string) *output {
	t.Helper()
	args = append([]string{
		name, "--kubeconfig", localtest.Kubeconfig(t, config), "--temporal-address", temporal, "--temporal-namespace", namespace,
	}, args...)
	out := &output{ready: make(chan struct{})}
	cmd := exec.Command(program, args...) // #nosec G204 -- the program under test
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, out, time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		kill := time.AfterFunc(downTimeout, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Errorf("fairlead %s ended with %v\n%s", name, err, out)
		}
	})
	return out
}

// says waits until the output has the words.
func (o *output) says(t *testing.T, words string) {
	t.Helper()
	eventually.Sees(t, "it says: "+words, time.Minute, func() (bool, string) {
		text := o.String()
		return strings.Contains(text, words), text
	})
}

// becomes waits until a request is answered so.
func becomes(t *testing.T, url string, want int) {
	t.Helper()
	eventually.Sees(t, fmt.Sprintf("%s answers %d", url, want), time.Minute, func() (bool, string) {
		code, body := get(url)
		return code == want, fmt.Sprint(code, " ", body)
	})
}

func (p part) becomes(t *testing.T, path string, want int) {
	t.Helper()
	becomes(t, "http://"+p.health+path, want)
}

func (p part) measures(t *testing.T, series ...string) {
	t.Helper()
	for _, name := range series {
		eventually.Sees(t, "/metrics has "+name, 30*time.Second, func() (bool, string) {
			_, body := get("http://" + p.metrics + "/metrics")
			return strings.Contains(body, "\n"+name), body
		})
	}
}

// get gives the answer to a request, or why there is none.
func get(url string) (code int, body string) {
	resp, err := http.Get(url) // #nosec G107 -- on loopback
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return resp.StatusCode, err.Error()
	}
	return resp.StatusCode, string(data)
}

// relay is a way to another address that can be cut.
type relay struct {
	net.Listener
	mu    sync.Mutex
	conns []net.Conn
}

func newRelay(t *testing.T, address, target string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{Listener: l}
	var passing sync.WaitGroup
	passing.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", target)
			if err != nil {
				_ = from.Close()
				continue
			}
			r.mu.Lock()
			r.conns = append(r.conns, from, to)
			r.mu.Unlock()
			passing.Go(func() { _, _ = io.Copy(to, from) }) // until one of them is closed
			passing.Go(func() { _, _ = io.Copy(from, to) })
		}
	})
	t.Cleanup(func() { r.cut(); passing.Wait() })
	return r
}

func (r *relay) cut() {
	_ = r.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		_ = c.Close()
	}
}
