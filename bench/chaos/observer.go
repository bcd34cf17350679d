package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

// verdict is what kind of promise was broken.
type verdict string

const (
	leaked    verdict = "leaked"
	duplicate verdict = "duplicate"
	stuck     verdict = "stuck"
	broken    verdict = "broken" // another promise
)

// violation is a broken promise.
type violation struct {
	verdict verdict
	uid     string // of the object; empty when it is about none
	what    string
}

func (v *violation) Error() string { return string(v.verdict) + ": " + v.what }

// observer sees objects, directories and processes, and believes nobody else.
type observer struct {
	seed      uint64
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
	// landing is when the last lost attempt has landed.
	landing time.Time
	changed chan struct{}
}

func newObserver(seed uint64, namespace string, stateDirs map[string]string, owner int, live client.WithWatch, fail func(*violation)) *observer {
	return &observer{
		seed: seed, namespace: namespace, stateDirs: stateDirs, owner: owner, live: live, fail: fail, began: time.Now(),
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
