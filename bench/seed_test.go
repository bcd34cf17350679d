package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	temporalclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fairlead/activities/desired"
	"example.com/fairlead/activities/object"
	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/process/life"
	"example.com/fairlead/api/crawl/ref"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/internal/eventually"
	"example.com/fairlead/temporal/wire"
	"example.com/fairlead/workflows/proxy"
)

// lifeFile is the lock file of a seeded instance.
const lifeFile = "life-seeded"

// seedingWorkers is how many proxies are seeded at a time.
const seedingWorkers = 24

// fleet is a set of seeded proxies: objects whose status says that they are Ready,
// the instances of the Managed ones, and the workflows of all, parked as a run
// before would have left them. One process lives and answers for all of them.
type fleet struct {
	*world
	// providers is the providers file.
	providers string
	registry  *provider.Registry
	// stateDirs of the process providers, by name.
	stateDirs map[string]string
	port      int32
	proxies   []*crawl.Proxy
}

// seed makes the objects and, on disk, the instances. External proxies have no
// provider.
func (f *fleet) seed(n int, providerOf func(i int) string) {
	f.tb.Helper()
	f.proxies = make([]*crawl.Proxy, n)
	f.each("seed a Proxy", func(i int) error {
		p := external(f.namespace, numbered("p", i), address(i), f.port)
		if provider := providerOf(i); provider != "" {
			p = managed(f.namespace, p.Name, provider)
			p.Finalizers, p.Spec.Port = []string{crawl.Finalizer}, f.port
		}
		f.proxies[i] = p
		return errors.Join(f.client.Create(f.ctx, p), f.seedInstance(p, address(i)), f.client.Status().Update(f.ctx, p))
	})
}

// each calls do for every proxy, several at a time.
func (f *fleet) each(doing string, do func(i int) error) {
	f.tb.Helper()
	var group errgroup.Group
	group.SetLimit(seedingWorkers)
	for i := range f.proxies {
		group.Go(func() error { return do(i) })
	}
	f.must(doing, group.Wait())
}

// address of the i-th proxy, out of the way of those that the process provider gives.
func address(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{127, 32, byte(i >> 8), byte(i)}) // #nosec G115 -- less than 65,536 of them
}

// seedInstance fills the status of p in, and writes the instance of a Managed one as
// the process provider keeps it.
func (f *fleet) seedInstance(p *crawl.Proxy, at netip.Addr) error {
	checked := metav1.NewTime(time.Now().Truncate(time.Second))
	p.Status = crawl.ProxyStatus{
		Phase: crawl.PhaseReady, Sequence: 3, ObservedGeneration: p.Generation, ObservedInputs: p.Inputs(nil),
		IP: at.String(), Port: f.port, LatencyMillis: 5, LastHealthCheckTime: &checked,
		Conditions: trueConditions(wire.ReasonExternal),
	}
	if p.Spec.Mode == crawl.ModeExternal {
		return nil
	}
	req, err := desired.Request(f.ctx, f.client, p)
	if err != nil {
		return err
	}
	by, err := f.registry.Get(p.Spec.Provider)
	if err != nil {
		return err
	}
	places, err := by.Places(f.ctx, p.Namespace, &p.Spec) // makes the state directory
	if err != nil {
		return err
	}
	p.Status.Conditions = trueConditions(wire.ReasonCreated)
	p.Status.ProviderID, p.Status.SpecHash = "processes/"+req.Name, req.Hash
	p.Status.Instances = []crawl.InstanceRecord{{Provider: p.Spec.Provider, Place: places[0], Name: req.Name, Incarnation: 1, Hash: req.Hash}}
	req.Owner.ClusterID = f.clusterID
	record, err := json.Marshal(map[string]any{
		"owner": req.Owner, "incarnation": 1, "hash": req.Hash, "address": at, "port": f.port,
		"lifeFile": lifeFile, "createdAt": time.Now(),
	})
	if err != nil {
		return err
	}
	own := filepath.Join(f.stateDirs[p.Spec.Provider], req.Name)
	return errors.Join(os.Mkdir(own, 0o700),
		os.WriteFile(filepath.Join(own, lifeFile), nil, 0o600),
		os.WriteFile(filepath.Join(own, "instance.json"), record, 0o600))
}

// trueConditions are those of a Ready proxy.
func trueConditions(provisioned string) []metav1.Condition {
	var all []metav1.Condition
	for _, c := range []struct{ kind, reason string }{
		{crawl.ConditionProvisioned, provisioned}, {crawl.ConditionHealthy, wire.ReasonHealthy}, {crawl.ConditionReady, wire.PhaseReady},
	} {
		all = append(all, metav1.Condition{Type: c.kind, Status: metav1.ConditionTrue, Reason: c.reason, LastTransitionTime: metav1.Now()})
	}
	return all
}

// live starts the process of all instances, and makes sure that the providers see
// what was seeded.
func (f *fleet) live() {
	f.tb.Helper()
	lock := filepath.Join(f.tb.TempDir(), "life")
	f.must("make a lock file", os.WriteFile(lock, nil, 0o600))
	args := append([]string{strconv.Itoa(int(f.port)), lock}, slices.Collect(maps.Values(f.stateDirs))...)
	process := f.start("fleet", selfCommand(f.tb, roleFleet, args...))
	eventually.Within(f.tb, "the fleet answers", patience, func() bool {
		select {
		case <-process.Done():
			f.tb.Fatal(process.Exit())
		default:
		}
		signs, err := life.Look(lock)
		f.must("look whether the fleet answers", err)
		return signs.Listening
	})
	running, other := 0, ""
	for name := range f.stateDirs {
		p, err := f.registry.Get(name)
		f.must("find a provider", err)
		l, err := p.List(f.ctx)
		f.must("list the seeded instances", err)
		for _, i := range l.Instances {
			if i.State == provider.Running && i.Port == f.port {
				running++
			} else {
				other = fmt.Sprintf("; one is %s: %s", i.State, i.Message)
			}
		}
	}
	want := 0
	for _, p := range f.proxies {
		want += len(p.Status.Instances)
	}
	if running != want {
		f.tb.Fatalf("the providers list %d seeded instances that run, want %d%s", running, want, other)
	}
}

// park starts the workflow of every proxy in the state in which a run before would
// have continued as new.
func (f *fleet) park() {
	f.tb.Helper()
	claims := &object.Activities{Client: f.client, Providers: f.registry}
	f.each("park a workflow", func(i int) error {
		key := ref.Of(f.proxies[i])
		claim, err := claims.Claim(f.ctx, key)
		if err != nil {
			return err
		}
		title := "Proxy " + key.String()
		_, err = f.temporal.ExecuteWorkflow(f.ctx, temporalclient.StartWorkflowOptions{
			ID: wire.ProxyID(key), TaskQueue: wire.QueueMain,
			Memo: map[string]any{wire.MemoTitle: title}, StaticSummary: title,
			TypedSearchAttributes: temporal.NewSearchAttributes(
				wire.KeyKubeNamespace.ValueSet(key.Namespace), wire.KeyKubeName.ValueSet(key.Name),
				wire.KeyProxyPhase.ValueSet(wire.PhaseReady), wire.KeyReason.ValueSet(wire.PhaseReady), wire.KeyHealthy.ValueSet(true),
			),
		}, wire.WorkflowProxy, proxy.Input{Proxy: key, Version: proxy.Version, State: parked(claim)})
		return err
	})
}

// parked is the state of a Ready proxy whose object claim was read from.
func parked(claim wire.Claim) *proxy.State {
	stored := claim.Stored
	s := &proxy.State{
		Version: proxy.Version, ClusterID: claim.ClusterID, Stored: stored,
		Health: &wire.Health{Healthy: true, Verdict: "healthy", LatencyMillis: stored.LatencyMillis, ProbedAt: stored.ProbedAt},
	}
	for _, e := range stored.Ledger {
		s.Health.Incarnation = e.Incarnation
		s.Ledger = append(s.Ledger, proxy.Record{Entry: e, Sent: true, Seen: wire.Instance{
			State: wire.StateRunning, ProviderID: stored.ProviderID, Host: stored.Host, Port: stored.Port, Hash: e.Hash, Attempt: 1,
		}})
	}
	return s
}
