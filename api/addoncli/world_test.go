package addoncli_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"example.com/fairlead/api/addoncli"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/api/cli"
	"example.com/fairlead/api/kube"
	"example.com/fairlead/api/lease/desk"
	"example.com/fairlead/api/lease/desk/desktest"
	"example.com/fairlead/api/server"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/temporal/wire"
)

const planHash = "0123456789abcdefghij"

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// shell is where `fairlead addon` is called, on a real API.
type shell struct {
	t       *testing.T
	cluster client.Client
	plan    server.Plan
	// terminal: everything is one.
	terminal bool
	in       string
	out, err bytes.Buffer

	mu sync.Mutex
	// then is what happens, one after the other, when an add-on is looked at; after the first
	// request that changes something, or if now is set before too.
	then []func(*addons.Addon)
	now  bool
	// look is for how long an edit is waited for to be looked at.
	look time.Duration
	// asked are the requests that changed something.
	asked []string
}

// Plan implements server.Sets.
func (s *shell) Plan(context.Context, *addons.Addon) (server.Plan, error) { return s.plan, nil }

// Signer implements server.Sets.
func (s *shell) Signer(context.Context) (func([]byte) string, error) {
	return func([]byte) string { return "signed" }, nil
}

func newShell(t *testing.T, objects ...client.Object) *shell {
	t.Helper()
	scheme, err := kube.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	s := &shell{t: t, look: time.Minute, cluster: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()}
	log := localtest.Quiet()
	api, err := server.New(server.Options{
		Desk: desk.New(desk.Options{Place: desktest.NewPlace(), Log: log}), Secrets: s.cluster, Objects: s.cluster, Log: log,
		Workflows: nobody{}, Addons: &server.Addons{Cache: s.cluster, Objects: s.cluster, Sets: s},
	})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.before(r)
		api.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	t.Chdir(t.TempDir())
	t.Setenv(cli.EnvURL, h.URL)
	t.Setenv(cli.EnvTokenFile, "")
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	return s
}

type nobody struct{}

func (nobody) Lease(context.Context, wire.ProxyRef) error { return nil }

// before lets things happen in between requests.
func (s *shell) before(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method != http.MethodGet {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.asked = append(s.asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
		return
	}
	if len(s.asked) == 0 && !s.now || len(s.then) == 0 {
		return
	}
	var a addons.Addon
	if err := s.cluster.Get(r.Context(), client.ObjectKey{Name: "demo"}, &a); err != nil {
		s.t.Error(err)
		return
	}
	a.Status.ObservedGeneration = a.Generation
	s.then[0](&a)
	s.then = s.then[1:]
	if err := s.cluster.Update(r.Context(), &a); err != nil {
		s.t.Error(err)
	}
}

// run calls `fairlead addon`.
func (s *shell) run(args ...string) error {
	s.t.Helper()
	s.out.Reset()
	s.err.Reset()
	cmd := &cobra.Command{Use: "addon", SilenceErrors: true, SilenceUsage: true} // as fairlead does
	cmd.AddCommand(addoncli.CommandsOf(2*time.Second, time.Millisecond, s.look, func(any) bool { return s.terminal })...)
	cmd.SetArgs(args)
	cmd.SetIn(strings.NewReader(s.in))
	cmd.SetOut(&s.out)
	cmd.SetErr(&s.err)
	return cmd.ExecuteContext(context.WithoutCancel(s.t.Context()))
}

// prints calls it and returns what it prints.
func (s *shell) prints(args ...string) string {
	s.t.Helper()
	if err := s.run(args...); err != nil {
		s.t.Fatalf("%v: %v", args, err)
	}
	return s.out.String()
}

// fails calls it and checks why it fails.
func (s *shell) fails(says string, args ...string) {
	s.t.Helper()
	if err := s.run(args...); err == nil || !strings.Contains(err.Error(), says) {
		s.t.Errorf("%v: %v, want %q", args, err, says)
	}
}

func addon(name string, edits ...func(*addons.Addon)) *addons.Addon {
	a := &addons.Addon{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Generation: 2},
		Spec: addons.AddonSpec{
			Namespace: "storage", Source: addons.AddonSource{Helm: &addons.HelmSource{Repo: "https://charts.example", Chart: "storage", Version: "1.2.3"}},
		},
		Status: addons.AddonStatus{
			Phase: addons.PhaseSynced, Message: "all is well", Revision: "storage-1.2.3", ObservedGeneration: 2,
			Health: &addons.Health{Status: addons.HealthHealthy},
		},
	}
	for _, edit := range edits {
		edit(a)
	}
	return a
}

func waiting(a *addons.Addon) {
	a.Status.Phase, a.Status.Message = addons.PhaseOutOfSync, "2 changes wait"
	a.Status.Plan = &addons.Plan{Hash: planHash, Create: 1, Prune: 1}
	a.Status.Sets = &addons.Sets{Plan: "digest"}
}
