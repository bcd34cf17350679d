package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/api/crawl/ref"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// observer sees objects, directories and processes, and believes nobody else.
type observer struct {
	namespace string
	stateDirs map[string]string // by provider
	owner     int               // pid that all proxies of this run name
	live      client.WithWatch
	fail      func(*violation)
	began     time.Time

	mu         sync.Mutex
	subjects   map[string]*subject // by UID
	byInstance map[string]*subject // by the name of its instances
	instances  map[string]instance // those there at the last look, by lock file
	homeless   map[int]time.Time   // processes without a directory, since when
	faults     map[fault]int
	// unchecked are Creates that are still to be held to the ledger.
	unchecked []call
	// landing is when the last lost attempt has landed.
	landing time.Time
	changed chan struct{} // closed, and another one made, at every change
}

// subject is one object under observation.
type subject struct {
	ref wire.ProxyRef
	who string
	// now is the object as last seen.
	now  *crawl.Proxy
	gone bool
	// abandoned objects were told to leave their instances behind.
	abandoned bool
	// disturbed is what was done to its workflow.
	disturbed map[act]bool
	// entries are all that its ledger ever had.
	entries map[crawl.InstanceRecord]bool
	// seen has the lock files of instances that were in the ledger in time.
	seen map[string]bool
	log  []string
}

func newObserver(namespace string, stateDirs map[string]string, owner int, live client.WithWatch, fail func(*violation)) *observer {
	return &observer{
		namespace: namespace, stateDirs: stateDirs, owner: owner, live: live, fail: fail, began: time.Now(),
		subjects: map[string]*subject{}, byInstance: map[string]*subject{}, instances: map[string]instance{},
		homeless: map[int]time.Time{}, faults: map[fault]int{}, changed: make(chan struct{}),
	}
}

// watch follows the objects until ctx ends. When the API server dies it lists them
// again.
func (o *observer) watch(ctx context.Context) {
	for ctx.Err() == nil {
		if err := o.follow(ctx); err != nil {
			_ = linger(ctx, 200*time.Millisecond)
		}
	}
}

func (o *observer) follow(ctx context.Context) error {
	var list crawl.ProxyList
	if err := o.live.List(ctx, &list, client.InNamespace(o.namespace)); err != nil {
		return err
	}
	o.relist(list.Items)
	w, err := o.live.Watch(ctx, &crawl.ProxyList{}, client.InNamespace(o.namespace), &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
	if err != nil {
		return err
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		p, ok := e.Object.(*crawl.Proxy)
		switch {
		case !ok:
			return fmt.Errorf("the watch ended: %v", e.Object)
		case e.Type == watch.Deleted:
			o.sawGone(p)
		default:
			o.saw(p)
		}
	}
	return nil
}

func (o *observer) relist(items []crawl.Proxy) {
	there := map[string]bool{}
	for i := range items {
		there[string(items[i].UID)] = true
		o.saw(&items[i])
	}
	for _, s := range o.all() {
		if !there[s.ref.UID] {
			o.sawGone(s.now)
		}
	}
}

// all are the subjects that are there, as last seen.
func (o *observer) all() []subject {
	o.mu.Lock()
	defer o.mu.Unlock()
	var all []subject
	for _, s := range o.subjects {
		if !s.gone {
			all = append(all, *s)
		}
	}
	slices.SortFunc(all, func(a, b subject) int { return a.now.CreationTimestamp.Compare(b.now.CreationTimestamp.Time) })
	return all
}

// sizes are those of the last looks.
func (o *observer) sizes() (objects, instances int) {
	objects = len(o.all())
	o.mu.Lock()
	defer o.mu.Unlock()
	return objects, len(o.instances)
}

func (o *observer) find(uid string) (s subject, found bool) {
	o.with(uid, func(there *subject) { s, found = *there, true })
	return s, found
}

// with calls f, with the lock, for the object with this UID when it was seen.
func (o *observer) with(uid string, f func(s *subject)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s, ok := o.subjects[uid]; ok {
		f(s)
	}
}

// subject of p, which is new when p was never seen. It is called with the lock.
func (o *observer) subject(p *crawl.Proxy) *subject {
	s, ok := o.subjects[string(p.UID)]
	if !ok {
		s = &subject{
			ref:     ref.Of(p),
			who:     p.Spec.Attributes[attributeWho],
			now:     p,
			entries: map[crawl.InstanceRecord]bool{},
			seen:    map[string]bool{},
		}
		o.subjects[s.ref.UID], o.byInstance[provider.InstanceName(s.ref.UID)] = s, s
	}
	return s
}

// keepLines is how many lines of its log a subject keeps.
const keepLines = 120

// tell adds a line to the log of a subject. It is called with the lock.
func (o *observer) tell(s *subject, format string, args ...any) {
	line := fmt.Sprintf("%8.3f ", time.Since(o.began).Seconds()) + fmt.Sprintf(format, args...)
	if s.log = append(s.log, line); len(s.log) > keepLines {
		s.log = s.log[1:]
	}
}

// note adds a line to the log of the object with this UID.
func (o *observer) note(uid, format string, args ...any) {
	o.with(uid, func(s *subject) { o.tell(s, format, args...) })
}

// abandon notes that the instances of an object may be left behind from now on.
func (o *observer) abandon(uid string) { o.with(uid, func(s *subject) { s.abandoned = true }) }

// disturb notes what is done to the workflow of an object.
func (o *observer) disturb(uid string, a act) {
	o.with(uid, func(s *subject) {
		former := s.disturbed // it is in the hands of others
		s.disturbed = map[act]bool{a: true}
		maps.Copy(s.disturbed, former)
	})
}

// wake lets everyone who waits look again. It is called with the lock.
func (o *observer) wake() {
	close(o.changed)
	o.changed = make(chan struct{})
}

// await waits until the object with this UID is as wanted, by what was seen of it.
func (o *observer) await(ctx context.Context, uid string, wanted func(s *subject) bool) error {
	return o.awaitAll(ctx, func() bool {
		s, ok := o.subjects[uid]
		return ok && wanted(s)
	})
}

// awaitCalm waits until at most so many objects have no status yet.
func (o *observer) awaitCalm(ctx context.Context, most int) error {
	return o.awaitAll(ctx, func() bool {
		n := 0
		for _, s := range o.subjects {
			if !s.gone && s.now.Status.Sequence == 0 && !s.now.Paused() {
				n++
			}
		}
		return n <= most
	})
}

// awaitAll waits until what was seen is as wanted, which is called with the lock.
func (o *observer) awaitAll(ctx context.Context, wanted func() bool) error {
	for {
		o.mu.Lock()
		done, changed := wanted(), o.changed
		o.mu.Unlock()
		if done {
			return nil
		}
		if err := wait(ctx, changed); err != nil {
			return err
		}
	}
}
