package plan_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/fairlead/activities/addon/plan"
)

func TestRecheck(t *testing.T) {
	tests := map[string]struct {
		move   func(c *cluster, r plan.Request)
		same   bool
		action plan.Action
	}{
		"nothing moved":     {move: func(*cluster, plan.Request) {}, same: true, action: plan.Update},
		"what would change": {move: func(c *cluster, r plan.Request) { c.recolor(r, "green") }, action: plan.Update},
		"it is as planned":  {move: func(c *cluster, r plan.Request) { c.recolor(r, "red") }, action: plan.Unchanged},
		"it was deleted":    {move: func(c *cluster, r plan.Request) { c.delete(r.Set.Objects[0].Unstructured) }, action: plan.Create},
		"another's bookkeeping": {move: func(c *cluster, r plan.Request) {
			c.patch(r.Set.Objects[0].Unstructured, `{"metadata":{"annotations":{"a":"b"}}}`)
		}, same: true, action: plan.Update},
		"another add-on took it": {move: func(c *cluster, r plan.Request) {
			c.patch(r.Set.Objects[0].Unstructured, `{"metadata":{"labels":{"rendimiento.ai/addon":"other"}}}`)
		}, same: true, action: plan.Update},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.apply(c.rendered(configMap))
			r := c.rendered(strings.Replace(configMap, "blue", "red", 1))
			planned := c.only(r)
			test.move(c, r)
			fresh, body, err := c.Rechecks(r).Item(t.Context(), planned)
			if err != nil {
				t.Fatal(err)
			}
			if (fresh.Hash == planned.Hash) != test.same || fresh.Action != test.action {
				t.Errorf("it is %+v, was %+v\nwant the same: %v, %s", fresh, planned, test.same, test.action)
			}
			if body.GetResourceVersion() != fresh.ResourceVersion || body.GetUID() != fresh.UID {
				t.Errorf("the body is for %s at %s", body.GetUID(), body.GetResourceVersion())
			}
		})
	}
}

func TestRecheckOfPrune(t *testing.T) {
	c := newCluster(t)
	old := c.rendered(configMap)
	c.apply(old)
	o := old.Set.Objects[0]
	r := c.rendered(deployment)
	r.Prune = true
	r.Previous = []plan.Owned{{ID: o.ID(), UID: c.uid(o.Unstructured)}}
	planned := itemOf(t, c.must(r), "settings")
	again := func() plan.Item {
		fresh, body, err := c.Rechecks(r).Item(t.Context(), planned)
		if err != nil || body != nil {
			t.Fatalf("rechecked, it has the body %v, error %v", body, err)
		}
		return fresh
	}
	if fresh := again(); fresh.Hash != planned.Hash {
		t.Errorf("it is %+v, was %+v", fresh, planned)
	}
	c.recolor(old, "green")
	if fresh := again(); fresh.Hash != planned.Hash {
		t.Errorf("after its content moved, it is %+v, was %+v", fresh, planned)
	}
	c.patch(o.Unstructured, `{"metadata":{"annotations":{"helm.sh/resource-policy":"keep"}}}`)
	if fresh := again(); fresh.Action != plan.Keep || fresh.Hash == planned.Hash {
		t.Errorf("kept, it is %+v, was %+v", fresh, planned)
	}
	c.delete(o.Unstructured)
	if fresh := again(); fresh.Action != plan.Unchanged {
		t.Errorf("deleted, it is %+v", fresh)
	}
}

func (c *cluster) recolor(r plan.Request, color string) {
	c.t.Helper()
	c.patch(r.Set.Objects[0].Unstructured, fmt.Sprintf(`{"data":{"color":%q}}`, color))
}

func TestLargeDiff(t *testing.T) {
	c := newCluster(t)
	var lines strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&lines, "  key-%d: an ordinary value of the object\n", i)
	}
	i := c.only(c.rendered("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: large, namespace: NS}\ndata:\n" + lines.String()))
	if len(i.Diff) < plan.MaxDiff || len(i.Diff) > plan.MaxDiff+100 || !strings.HasSuffix(i.Diff, "left out\n") {
		t.Errorf("the diff has %d bytes, and ends with %q", len(i.Diff), i.Diff[max(0, len(i.Diff)-60):])
	}
}

func TestRecheckOfACreation(t *testing.T) {
	tests := map[string]struct {
		move   func(c *cluster, r plan.Request)
		same   bool
		action plan.Action
		dry    int32
	}{
		"nothing moved, and the write itself comes next": {move: func(*cluster, plan.Request) {}, same: true, action: plan.Create},
		"somebody made another":                          {move: func(c *cluster, r plan.Request) { c.apply(r); c.recolor(r, "green") }, action: plan.Update, dry: 1},
		"it was made":                                    {move: func(c *cluster, r plan.Request) { c.apply(r) }, action: plan.Unchanged, dry: 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			r := c.rendered(configMap)
			planned := c.only(r)
			test.move(c, r)
			var dry atomic.Int32
			fresh, body, err := c.watched(func(request *http.Request) func() {
				if request.Method == http.MethodPatch {
					dry.Add(1)
				}
				return nothing
			}).Rechecks(r).Item(t.Context(), planned)
			if err != nil {
				t.Fatal(err)
			}
			if (fresh.Hash == planned.Hash) != test.same || fresh.Action != test.action || dry.Load() != test.dry {
				t.Errorf("after %d dry runs it is %+v, was %+v\nwant the same: %v, %s, %d dry runs", dry.Load(), fresh, planned, test.same, test.action, test.dry)
			}
			if body.GetResourceVersion() != fresh.ResourceVersion || body.GetUID() != fresh.UID {
				t.Errorf("the body is for %s at %s", body.GetUID(), body.GetResourceVersion())
			}
		})
	}
}
