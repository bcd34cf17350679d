package sweep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"example.com/fairlead/activities/desired"
	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/process"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/temporal/wire"
)

// machine is a state directory of the process provider, in which a test makes
// instances of any age.
type machine struct {
	t       *testing.T
	dir     string
	cluster string
}

func (m *machine) open(change ...func(*process.Options)) *process.Provider {
	m.t.Helper()
	o := process.Options{
		Settings: process.Settings{StateDir: m.dir}, ClusterID: m.cluster,
		Command: []string{os.Args[0], asProxy},
	}
	for _, c := range change {
		c(&o)
	}
	p, err := process.New(o)
	if err != nil {
		m.t.Fatal(err)
	}
	return p
}

// make runs an instance of the object with this name and UID.
func (m *machine) make(name, uid string, age time.Duration, change ...func(*process.Options)) wire.Suspect {
	m.t.Helper()
	p := m.open(append(change, func(o *process.Options) { o.Now = func() time.Time { return time.Now().Add(-age) } })...)
	places, err := p.Places(m.t.Context(), "", nil)
	if err != nil {
		m.t.Fatal(err)
	}
	id := provider.ID{Place: places[0], Name: provider.InstanceName(uid)}
	cluster := m.cluster
	for _, c := range change {
		o := process.Options{ClusterID: cluster}
		c(&o)
		cluster = o.ClusterID
	}
	_, err = p.Create(m.t.Context(), provider.Request{
		ID: id, Incarnation: 3, Owner: provider.Owner{Namespace: "crawlers", Name: name, UID: uid, ClusterID: cluster},
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return wire.Suspect{Place: id.Place, Name: id.Name, Incarnation: 3, UID: uid}
}

func (m *machine) alive(s wire.Suspect) bool {
	m.t.Helper()
	_, err := os.Stat(filepath.Join(m.dir, s.Name))
	return err == nil
}

func newMachine(t *testing.T, cluster string) *machine {
	t.Helper()
	m := &machine{t: t, dir: filepath.Join(t.TempDir(), "proxies"), cluster: cluster}
	t.Cleanup(func() {
		if err := m.open().DeleteAll(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return m
}

func TestDeleteOrphan(t *testing.T) {
	live, ns := apiServer(t)
	id, err := desired.Cluster("").ID(t.Context(), live)
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(t, id)
	owner := &crawl.Proxy{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "owner"}, Spec: crawl.ProxySpec{Provider: "local"}}
	if err := live.Create(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	const old = time.Hour
	unreadable := interceptor.NewClient(live, interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("etcd is away")
		},
	})
	tests := map[string]struct {
		suspect wire.Suspect
		change  func(*Provider, *calls, *wire.Suspect)
		reason  string // why it is left alone; empty for deleted
		fails   string
	}{
		"an orphan goes":                     {suspect: m.make("stray", "u-stray", old)},
		"not if its object exists":           {suspect: m.make("owner", string(owner.UID), old), reason: "its Proxy exists"},
		"not if its workflow is open":        {suspect: m.make("open", "u-open", old), change: func(_ *Provider, c *calls, _ *wire.Suspect) { c.open = map[string]bool{"open": true} }, reason: "its workflow is open"},
		"not if its workflow cannot be seen": {suspect: m.make("unseen", "u-unseen", old), change: func(_ *Provider, c *calls, _ *wire.Suspect) { c.fail = errors.New("Temporal is away") }, fails: "Temporal is away"},
		"not if the objects cannot be read":  {suspect: m.make("blind", "u-blind", old), change: func(p *Provider, _ *calls, _ *wire.Suspect) { p.Live = unreadable }, fails: "list all Proxies: etcd is away"},
		"not if it is new":                   {suspect: m.make("new", "u-new", 9*time.Minute), reason: "it is not old enough"},
		"not another incarnation":            {suspect: m.make("again", "u-again", old), change: func(_ *Provider, _ *calls, s *wire.Suspect) { s.Incarnation = 2 }, reason: "it is another incarnation now"},
		"not another owner's":                {suspect: m.make("taken", "u-taken", old), change: func(_ *Provider, _ *calls, s *wire.Suspect) { s.UID = "u-former" }, reason: "it belongs to another Proxy now"},
		"not one that hides its owner":       {suspect: m.make("", "u-nameless", old), reason: "it does not say whose it is"},
		"not while only reporting":           {suspect: m.make("reported", "u-reported", old), change: func(p *Provider, _ *calls, _ *wire.Suspect) { p.Orphans.Mode = Report }, reason: "--orphans is report"},
		"of a namespace of ours":             {suspect: m.make("ours", "u-ours", old), change: func(p *Provider, _ *calls, _ *wire.Suspect) { p.Orphans.Namespaces = []string{ns, "crawlers"} }},
		"not of another's namespace":         {suspect: m.make("theirs", "u-theirs", old), change: func(p *Provider, _ *calls, _ *wire.Suspect) { p.Orphans.Namespaces = []string{ns} }, reason: `its Proxy is of namespace "crawlers", which is not ours (--namespace)`},
		"of the cluster that was given": {
			suspect: m.make("restored", "u-restored", old, func(o *process.Options) { o.ClusterID = "former" }),
			change: func(p *Provider, _ *calls, _ *wire.Suspect) {
				p.Cluster = "former"
				p.Provider = m.open(func(o *process.Options) { o.ClusterID = "former" })
			},
		},
		"not another cluster's": {
			suspect: m.make("foreign", "u-foreign", old, func(o *process.Options) { o.ClusterID = "elsewhere" }),
			reason:  "it is gone", // to this cluster
		},
		"not with a wrong kubeconfig": {
			suspect: m.make("wrong", "u-wrong", old, func(o *process.Options) { o.ClusterID = "former" }),
			change: func(p *Provider, _ *calls, _ *wire.Suspect) {
				p.Provider = m.open(func(o *process.Options) { o.ClusterID = "former" })
			},
			reason: `it belongs to cluster "former", this is "` + id + `"`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			told, s := &calls{}, tt.suspect
			p := &Provider{
				Name: "local", Type: process.Type, Provider: m.open(), Cache: live, Live: live,
				Workflows: told, Orphans: DefaultOrphans(), Metrics: newMetrics(t), Log: localtest.Quiet(),
			}
			if tt.change != nil {
				tt.change(p, told, &s)
			}
			got, err := p.DeleteOrphan(t.Context(), wire.OrphanInput{Provider: "local", Suspect: s})
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) {
					t.Errorf("error %v, want one about %q", err, tt.fails)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			deleted := tt.reason == "" && tt.fails == ""
			if diff := cmp.Diff(wire.OrphanOutcome{Deleted: deleted, Reason: tt.reason}, got); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
			if woken := slices.Contains(told.told, "observed open"); woken != (tt.reason == "its workflow is open") {
				t.Errorf("its workflow was woken: %v", woken)
			}
			if m.alive(tt.suspect) == deleted {
				t.Errorf("the instance is there: %v", m.alive(tt.suspect))
			}
		})
	}
}

// TestEveryPageOfObjectsIsRead: the owner may be on the last one.
func TestEveryPageOfObjectsIsRead(t *testing.T) {
	live, ns := apiServer(t)
	var uids []string
	for _, name := range []string{"a", "b", "c"} {
		p := &crawl.Proxy{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Spec: crawl.ProxySpec{Provider: "local"}}
		if err := live.Create(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		uids = append(uids, string(p.UID))
	}
	pages := 0
	onePerPage := interceptor.NewClient(live, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			pages++
			return c.List(ctx, list, append(options, client.Limit(1), client.InNamespace(ns))...)
		},
	})
	p := &Provider{Live: onePerPage}
	for _, uid := range uids {
		if found, err := p.owned(t.Context(), uid); err != nil || !found {
			t.Errorf("%s is found: %v, error %v", uid, found, err)
		}
	}
	if pages != 1+2+3 {
		t.Errorf("%d pages were read, want 6", pages)
	}
	if found, err := p.owned(t.Context(), "nobody"); err != nil || found {
		t.Errorf("nobody is found: %v, error %v", found, err)
	}
}
