package plan_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/dynamic"

	"example.com/fairlead/activities/addon/plan"
	"example.com/fairlead/deploy/local/localtest"
)

// transport does something at each request.
type transport struct {
	http.RoundTripper
	at func(*http.Request) (done func())
}

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	defer t.at(r)()
	return t.RoundTripper.RoundTrip(r)
}

// watched is a planner like c whose requests at is told of.
func (c *cluster) watched(at func(*http.Request) func()) plan.Planner {
	c.t.Helper()
	config := localtest.ControlPlane(c.t)
	config.QPS, config.Burst = 500, 500
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return transport{next, at} })
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		c.t.Fatal(err)
	}
	p := c.Planner
	p.Client = client
	return p
}

func nothing() {}

func TestMovedBetweenReadAndDryRun(t *testing.T) {
	tests := map[string]struct {
		move func(c *cluster, r plan.Request)
		want plan.Action
	}{
		"made again":                 {func(c *cluster, r plan.Request) { c.delete(r.Set.Objects[0].Unstructured); c.apply(r) }, plan.Unchanged},
		"deleted":                    {func(c *cluster, r plan.Request) { c.delete(r.Set.Objects[0].Unstructured) }, plan.Create},
		"changed from what it was":   {func(c *cluster, r plan.Request) { c.recolor(r, "green") }, plan.Update},
		"changed, but nothing of us": {func(c *cluster, r plan.Request) { c.patch(r.Set.Objects[0].Unstructured, `{"data":{"more":"x"}}`) }, plan.Unchanged},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			r := c.rendered(configMap)
			c.apply(r)
			var once sync.Once
			p, err := c.watched(func(request *http.Request) func() {
				if request.Method == http.MethodPatch {
					once.Do(func() { test.move(c, r) })
				}
				return nothing
			}).Plan(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			i := p.Items[0]
			if i.Action != test.want {
				t.Errorf("it is planned as %+v, want %s", i, test.want)
			}
			if i.Action != plan.Create && i.UID != c.uid(r.Set.Objects[0].Unstructured) {
				t.Errorf("the UID is %s, of the object that is gone", i.UID)
			}
		})
	}

	t.Run("created", func(t *testing.T) {
		c := newCluster(t)
		r := c.rendered(configMap)
		var once sync.Once
		p, err := c.watched(func(request *http.Request) func() {
			if request.Method == http.MethodPatch {
				once.Do(func() { c.apply(r) })
			}
			return nothing
		}).Plan(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if i := p.Items[0]; i.Action != plan.Unchanged {
			t.Errorf("it is planned as %+v", i)
		}
	})

	t.Run("always", func(t *testing.T) {
		c := newCluster(t)
		r := c.rendered(configMap)
		c.apply(r)
		var n atomic.Int32
		_, err := c.watched(func(request *http.Request) func() {
			if request.Method == http.MethodPatch {
				c.recolor(r, fmt.Sprint("color-", n.Add(1)))
			}
			return nothing
		}).Plan(t.Context(), r)
		wantErrors(t, err, map[string]string{"settings": "changes all the time"})
	})
}

func TestRequests(t *testing.T) {
	c := newCluster(t)
	const objects = 60
	var texts []string
	for i := range objects {
		texts = append(texts, fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c-%02d, namespace: NS}\n", i))
	}
	r := c.rendered(texts...)
	var mu sync.Mutex
	var now, most, all int
	p, err := c.watched(func(*http.Request) func() {
		mu.Lock()
		defer mu.Unlock()
		now, all = now+1, all+1
		most = max(most, now)
		return func() {
			mu.Lock()
			defer mu.Unlock()
			now--
		}
	}).Plan(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if most > 8 || all != 2*objects {
		t.Errorf("there were %d requests, %d at a time; want %d, at most 8 at a time", all, most, 2*objects)
	}
	for i, item := range p.Items {
		if want := fmt.Sprintf("c-%02d", i); item.ID.Name != want {
			t.Errorf("item %d is %s, want %s", i, item.ID.Name, want)
		}
	}
}

func TestCancel(t *testing.T) {
	c := newCluster(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := c.watched(func(request *http.Request) func() {
		if request.Method == http.MethodPatch {
			cancel()
		}
		return nothing
	}).Plan(ctx, c.rendered(configMap, deployment))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v, want that of the context", err)
	}
}
