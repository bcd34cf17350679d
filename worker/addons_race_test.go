package worker_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addons "example.com/fairlead/api/addons/v1alpha1"
)

// The races of one test: so many add-ons at the same time, each so often.
const racers, laps = 10, 20

// moments are when somebody else writes an object whose change is approved.
var moments = []string{"before the approval", "when the sync has looked", "just before it is written"}

// others are what somebody else writes: what was reviewed, or what does not count.
var others = map[bool]string{
	true:  `{"data":{"color":"theirs"}}`,
	false: `{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"},"labels":{"app.kubernetes.io/managed-by":"Helm"}}}`,
}

func TestARaceWithAnApprovalIsRefusedOrHarmless(t *testing.T) {
	w := newAddonWorld(t)
	pokes := &pokes{w: w, next: map[string]poke{}}
	w.before = pokes.before
	w.run()
	var group sync.WaitGroup
	var refused, applied [racers]int
	for i := range racers {
		o := w.create(colored("shop", "c0"), func(o *addons.Addon) { o.Spec.ManualSync = true })
		group.Go(func() {
			r := racer{w, pokes, o}
			r.approve()
			for lap := range laps {
				if r.race(lap) {
					refused[i]++
				} else {
					applied[i]++
				}
			}
		})
	}
	group.Wait()
	total := func(of [racers]int) (n int) {
		for _, each := range of {
			n += each
		}
		return n
	}
	if r, a := total(refused), total(applied); r != racers*laps/2 || a != racers*laps/2 {
		t.Errorf("%d were refused and %d applied, want %d of each", r, a, racers*laps/2)
	}
}

type racer struct {
	*addonWorld

	pokes *pokes
	o     *addons.Addon
}

// approve approves the plan that waits, and waits until it is applied.
func (r *racer) approve() {
	r.t.Helper()
	waits := r.sees(r.o, "a plan waits", waiting)
	r.patch(r.o, fmt.Sprintf(`{"spec":{"approve":%q}}`, waits.Status.Plan.Hash))
	r.sees(r.o, "it is Synced", synced)
}

func waiting(o *addons.Addon) bool {
	return o.Status.Phase == addons.PhaseOutOfSync && o.Status.Plan != nil && o.Status.Plan.Hash != ""
}

func synced(o *addons.Addon) bool { return o.Status.Phase == addons.PhaseSynced }

// race has somebody else write during a sync, in each second lap what was reviewed. It says
// whether the sync was refused.
func (r *racer) race(lap int) bool {
	counts, moment, want := lap%2 == 0, moments[lap/2%len(moments)], fmt.Sprintf("c%d", lap+1)
	r.source.set(r.o.Name, colored("shop", want))
	r.wake(r.o)
	before := r.sees(r.o, "a plan waits", waiting)
	hash := before.Status.Plan.Hash
	if moment == moments[0] {
		r.write(counts)
	} else {
		r.pokes.set(r.o.Name, poke{moment == moments[2], others[counts]})
	}
	r.patch(r.o, fmt.Sprintf(`{"spec":{"approve":%q}}`, hash))
	after := r.sees(r.o, fmt.Sprintf("lap %d ends, counts %v, %s", lap, counts, moment), func(o *addons.Addon) bool {
		return synced(o) || waiting(o) && o.Status.Plan.Hash != hash && o.Status.ObservedGeneration == o.Generation
	})
	live := r.configMap(r.o, "shop").Data["color"]
	if synced(after) {
		if live != want {
			r.t.Errorf("it is Synced, and its ConfigMap is %q, want %q", live, want)
		}
		return false
	}
	if live != "theirs" || !strings.Contains(after.Status.Message+after.Status.History[len(after.Status.History)-1].Message, "ConfigMap "+r.o.Name+"/shop") {
		r.t.Errorf("%s: the ConfigMap is %q; the status says %q", moment, live, after.Status.Message)
	}
	r.approve()
	return true
}

func (r *racer) write(counts bool) {
	o := r.configMap(r.o, "shop")
	r.must(r.live.Patch(r.t.Context(), o, merge(others[counts]), client.FieldOwner("somebody")))
}

// poke is what somebody else writes.
type poke struct {
	// last: just before the engine writes, and not before it looks again.
	last bool
	json string
}

// pokes come once each, by the name of the add-on.
type pokes struct {
	w    *addonWorld
	mu   sync.Mutex
	next map[string]poke
}

func (p *pokes) set(name string, next poke) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next[name] = next
}

// before writes if the time has come: at the first request for the object once the sync is
// under way, or at the first that keeps something.
func (p *pokes) before(r *http.Request) {
	namespace, found := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/"), "/configmaps/shop")
	if !found {
		return
	}
	p.mu.Lock()
	next, is := p.next[namespace]
	p.mu.Unlock()
	if !is || !p.due(r, namespace, next) {
		return
	}
	p.mu.Lock()
	delete(p.next, namespace)
	p.mu.Unlock()
	o := p.w.configMap(&addons.Addon{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, "shop")
	if err := p.w.live.Patch(r.Context(), o, merge(next.json), client.FieldOwner("somebody")); err != nil {
		p.w.t.Error(err)
	}
}

func (p *pokes) due(r *http.Request, name string, next poke) bool {
	if next.last {
		return r.Method != http.MethodGet && r.URL.Query().Get("dryRun") == ""
	}
	o := &addons.Addon{}
	err := p.w.live.Get(r.Context(), client.ObjectKey{Name: name}, o)
	return err == nil && o.Status.Phase == addons.PhaseSyncing
}

// TestAnApprovalIsUsedOnce: somebody takes an approved change back, which makes the same plan.
func TestAnApprovalIsUsedOnce(t *testing.T) {
	w := newAddonWorld(t)
	w.run()
	r := racer{w, nil, w.create(colored("shop", "first"), func(o *addons.Addon) { o.Spec.ManualSync = true })}
	r.approve()
	r.source.set(r.o.Name, colored("shop", "second"))
	r.wake(r.o)
	r.approve()
	o := r.configMap(r.o, "shop")
	r.must(r.live.Patch(t.Context(), o, merge(`{"data":{"color":"first"}}`), client.FieldOwner("somebody")))
	r.wake(r.o)
	r.sees(r.o, "the plan waits again", waiting)
	if got := r.configMap(r.o, "shop").Data["color"]; got != "first" {
		t.Errorf("it is %q without an approval", got)
	}
	r.approve()
	if got := r.configMap(r.o, "shop").Data["color"]; got != "second" {
		t.Errorf("it is %q after the approval, want second", got)
	}
}
