package process_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/process"
	"example.com/fairlead/activities/provider/process/forward/forwardtest"
	"example.com/fairlead/activities/provider/process/life"
	"example.com/fairlead/activities/provider/providertest"
	"example.com/fairlead/api/crawl/secrets"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/internal/eventually"
)

// The arguments that make this test program a proxy; a stubborn one ignores SIGTERM.
const (
	asProxy         = "proxy"
	asStubbornProxy = "stubborn-proxy"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch as := os.Args[1]; as {
		case asProxy:
			os.Exit(forwardtest.Main(os.Args[2:]))
		case asStubbornProxy:
			os.Exit(forwardtest.Stubborn(os.Args[2:]))
		case string(providertest.Create), string(providertest.Delete):
			os.Exit(runCall(providertest.Call(as), os.Args[2], os.Args[3], os.Args[4]))
		}
	}
	os.Exit(m.Run())
}

// backend is a state directory of one test.
type backend struct {
	t       *testing.T
	options process.Options
}

func newBackend(t *testing.T) *backend {
	b := &backend{t: t, options: process.Options{
		Settings: process.Settings{
			StateDir: filepath.Join(t.TempDir(), "state"),
			// The same names have the same addresses in every state directory, and others may
			// run these tests at the same time.
			Network: fmt.Sprintf("127.%d.%d.0/24", 64+rand.N(64), rand.N(256)),
		},
		ClusterID: providertest.Cluster,
		Command:   []string{os.Args[0], asProxy},
	}}
	t.Cleanup(b.endAll)
	return b
}

func (b *backend) open(change ...func(*process.Options)) *process.Provider {
	b.t.Helper()
	o := b.options
	for _, c := range change {
		c(&o)
	}
	p, err := process.New(o)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

// endAll deletes what a test left, so that no process outlives the tests.
func (b *backend) endAll() {
	for _, path := range b.glob("*/life-*") {
		if s, err := life.Look(path); err == nil && s.PID != 0 {
			if err := syscall.Kill(s.PID, syscall.SIGKILL); err != nil {
				b.t.Errorf("kill process %d: %v", s.PID, err)
			}
		}
	}
}

func (b *backend) glob(pattern string) []string {
	b.t.Helper()
	paths, err := filepath.Glob(filepath.Join(b.options.StateDir, pattern))
	if err != nil {
		b.t.Fatal(err)
	}
	return paths
}

// pid of the only process.
func (b *backend) pid() int {
	b.t.Helper()
	paths := b.glob("*/life-*")
	if len(paths) != 1 {
		b.t.Fatalf("the lock files are %v", paths)
	}
	s, err := life.Look(paths[0])
	if err != nil {
		b.t.Fatal(err)
	}
	return s.PID
}

// kill ends the only process and waits until it is dead.
func (b *backend) kill() {
	b.t.Helper()
	if err := syscall.Kill(b.pid(), syscall.SIGKILL); err != nil {
		b.t.Fatal(err)
	}
	eventually.Until(b.t, "the process is dead", func() bool { return b.pid() == 0 })
}

func (b *backend) request(uid string) provider.Request {
	return request(b.t.Context(), b.open(), uid)
}

// request is for an instance at the place of p; the zero value when there is none.
func request(ctx context.Context, p provider.Provider, uid string) provider.Request {
	places, err := p.Places(ctx, "crawlers", &crawl.ProxySpec{})
	if err != nil {
		return provider.Request{}
	}
	return providertest.Harness{Place: places[0]}.Request(providertest.Cluster, uid)
}

func create(t *testing.T, p provider.Provider, req provider.Request) provider.Instance {
	t.Helper()
	inst, err := p.Create(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

func get(t *testing.T, p provider.Provider, req provider.Request) provider.Instance {
	t.Helper()
	inst, err := p.Get(t.Context(), req.ID)
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

func TestContract(t *testing.T) {
	providertest.Run(t, func(t *testing.T) providertest.Harness {
		b := newBackend(t)
		return providertest.Harness{
			Place: b.request("a").Place, Serves: listens,
			New: func(clusterID string) provider.Provider {
				return b.open(func(o *process.Options) { o.ClusterID = clusterID })
			},
			Stop: func(*testing.T, provider.ID) { b.kill() },
			Halt: func(*testing.T, provider.ID) {
				b.kill()
				rebooted(&b.options)
			},
			Foreign: b.foreign,
			Silence: b.silence,
			Kill:    b.killIn,
			Left:    b.left,
		}
	})
}

// foreign makes an instance of that name which another cluster runs for another Proxy.
func (b *backend) foreign(t *testing.T, id provider.ID) (there func() bool) {
	t.Helper()
	p := b.open(func(o *process.Options) { o.ClusterID = providertest.OtherCluster })
	req := b.request("a")
	req.ID, req.Owner = id, provider.Owner{Namespace: "thesis", Name: "other", UID: "another", ClusterID: providertest.OtherCluster}
	made := create(t, p, req)
	return func() bool { return cmp.Equal(made, get(t, p, req)) && listens(made) }
}

// silence damages the record of an instance: nobody can say whose it is.
func (b *backend) silence(t *testing.T, id provider.ID) (target string, speak func()) {
	t.Helper()
	path := filepath.Join(b.options.StateDir, id.Name, "instance.json")
	record, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, []byte("{"), 0o600))
	return "local", func() { must(t, os.WriteFile(path, record, 0o600)) }
}

// left names the instances' directories and counts their processes.
func (b *backend) left() []string {
	return append(b.glob("proxy-*"), slices.Repeat([]string{"process"}, proxies(b.t, b.options.StateDir))...)
}

func listens(inst provider.Instance) bool {
	c, err := net.Dial("tcp", net.JoinHostPort(inst.Host, fmt.Sprint(inst.Port)))
	if err != nil {
		return false
	}
	return c.Close() == nil
}

// through asks target through the instance.
func through(t *testing.T, inst provider.Instance, user *url.Userinfo, target string) (int, string) {
	t.Helper()
	proxy := &url.URL{Scheme: "http", User: user, Host: net.JoinHostPort(inst.Host, fmt.Sprint(inst.Port))}
	c := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy), DisableKeepAlives: true}}
	resp, err := c.Get(target)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func echo(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		_, _ = io.WriteString(w, host)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestEachInstanceHasItsOwnExitAddress(t *testing.T) {
	b, target := newBackend(t), echo(t)
	p := b.open()
	first, second := create(t, p, b.request("a")), create(t, p, b.request("b"))
	for _, inst := range []provider.Instance{first, second} {
		if status, body := through(t, inst, nil, target); status != http.StatusOK || body != inst.Host {
			t.Errorf("through %s the target answered %d %q", inst.Host, status, body)
		}
	}
	if first.Host == second.Host {
		t.Errorf("both instances have the address %s", first.Host)
	}
}

func TestCredentialsReachTheProcessByAFileOnly(t *testing.T) {
	b := newBackend(t)
	req := b.request("a")
	req.Credentials = &secrets.Credentials{Username: "crawler", Password: "canary"}
	inst := create(t, b.open(), req)
	target := echo(t)
	if status, _ := through(t, inst, nil, target); status != http.StatusProxyAuthRequired {
		t.Errorf("without credentials the proxy answered %d", status)
	}
	if status, body := through(t, inst, url.UserPassword("crawler", "canary"), target); status != http.StatusOK || body != inst.Host {
		t.Errorf("with credentials the proxy answered %d %q", status, body)
	}
	for _, name := range []string{"cmdline", "environ"} {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", b.pid(), name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), "canary") {
			t.Errorf("%s of the process tells the password: %q", name, data)
		}
	}
	for _, path := range b.glob("*/*") {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
	}
}
