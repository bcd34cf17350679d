package health_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"

	"example.com/fairlead/activities/addon/health"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

const (
	minute = time.Minute

	many       = 500
	largeBytes = 40 << 10
	// fewBytes are much more than 8 objects take, and much less than all.
	fewBytes = 8 << 20
)

// flights counts requests that are under way.
type flights struct {
	http.RoundTripper

	now, most, all atomic.Int64
}

func (f *flights) RoundTrip(req *http.Request) (*http.Response, error) {
	defer f.now.Add(-1)
	f.all.Add(1)
	for n := f.now.Add(1); ; {
		most := f.most.Load()
		if n <= most || f.most.CompareAndSwap(most, n) {
			return f.RoundTripper.RoundTrip(req)
		}
	}
}

// Not parallel: it looks at the memory of the process.
func TestManyObjectsTakeLittle(t *testing.T) {
	w := newWorld(t)
	objects := w.makeMany()
	f := &flights{}
	c := w.client(func(c *rest.Config) {
		c.Wrap(func(rt http.RoundTripper) http.RoundTripper { f.RoundTripper = rt; return f })
	})
	mapper := w.mapper()
	w.checkAs(c, mapper, objects[0]) // discovery is not what is measured

	f.all.Store(0)
	base := heapBytes()
	heap := &peak{}
	began := time.Now()
	got := w.checkAs(reader{c, heap.look}, mapper, objects...)
	t.Logf("%d objects of %d KiB: %s, %d requests, at most %d at a time, %d KiB of heap at most",
		many, largeBytes>>10, time.Since(began).Round(time.Millisecond), f.all.Load(), f.most.Load(), (heap.bytes-base)>>10)

	want := addons.Health{Status: addons.HealthProgressing, Message: fmt.Sprintf("Deployment %s/web-0: 1 of 2 replicas are available; and %d more", w.namespace, many-1)}
	if got != want {
		t.Errorf("health = %+v, want %+v", got, want)
	}
	if all, most := f.all.Load(), f.most.Load(); all != many || most > 8 || most < 2 {
		t.Errorf("%d requests, %d at a time; want one for each object, and up to 8 at a time", all, most)
	}
	if took := heap.bytes - base; took > fewBytes {
		t.Errorf("heap grew by %d bytes, want at most %d of %d in all", took, fewBytes, many*largeBytes)
	}
}

func (w *world) makeMany() []health.Owned {
	w.t.Helper()
	objects := make([]health.Owned, many)
	large := strings.Repeat("x", largeBytes)
	var g errgroup.Group
	g.SetLimit(8)
	for i := range objects {
		g.Go(func() error {
			o := object(w.t, strings.ReplaceAll(web, "name: web", fmt.Sprintf("name: web-%d", i)))
			o.SetNamespace(w.namespace)
			o.SetAnnotations(map[string]string{"example.com/large": large})
			if err := w.Create(w.t.Context(), o); err != nil {
				return err
			}
			objects[i] = health.Owned{UID: o.GetUID()}
			objects[i].Group, objects[i].Kind = "apps", "Deployment"
			objects[i].Namespace, objects[i].Name = w.namespace, o.GetName()
			o.Object["status"] = object(w.t, "kind: Deployment\n"+oneOfTwo).Object["status"]
			return w.Status().Update(w.t.Context(), o)
		})
	}
	w.must(g.Wait())
	return objects
}

// peak is the most memory that was in use at some looks.
type peak struct {
	mu    sync.Mutex
	looks int
	bytes int64
}

func (p *peak) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.looks++; p.looks%50 == 0 {
		p.bytes = max(p.bytes, heapBytes())
	}
}

func heapBytes() int64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}
