package cluster_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon/render"
	"example.com/fairlead/internal/eventually"
)

func TestTheAPIListIsAskedForOnceInHalfAMinute(t *testing.T) {
	w := newWorld(t)
	look := func() {
		if _, _, err := w.Capabilities(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for _, step := range []struct {
		after string
		do    func()
		want  int64
	}{
		{"many at once", func() {
			var all sync.WaitGroup
			for range 100 {
				all.Go(look)
			}
			all.Wait()
		}, 1},
		{"29 s", func() { w.forward(29 * time.Second) }, 1},
		{"30 s", func() { w.forward(time.Second) }, 2},
		{"Refresh", w.Refresh, 3},
		{"a reset of the mapper", w.Mapper.Reset, 4},
	} {
		step.do()
		look()
		if got := w.asked.Load(); got != step.want {
			t.Errorf("after %s it was asked for %d times, want %d", step.after, got, step.want)
		}
	}
}

func TestWhoWaitsForTheAPIListMayGiveUp(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := w.Capabilities(ctx); err == nil {
		t.Error("an ended context got a list")
	}
	if _, _, err := w.Capabilities(t.Context()); err != nil {
		t.Errorf("and the next one got %v", err)
	}
}

func TestUnknownKindsAreLookedForAgain(t *testing.T) {
	w := newWorld(t)
	kind := schema.GroupKind{Group: "cluster.example.com", Kind: "Lookedfor"}
	for range 1000 {
		if _, err := w.Mapper.RESTMapping(kind, "v1"); !meta.IsNoMatchError(err) {
			t.Fatalf("a kind that is not there gave %v", err)
		}
	}
	if got := w.asked.Load(); got != 1 {
		t.Errorf("1,000 questions for an unknown kind asked the API server %d times, want 1", got)
	}
	w.define("Lookedfor")
	eventually.Until(t, "the kind is found", func() bool {
		w.forward(5 * time.Second)
		mapping, err := w.Mapper.RESTMapping(kind, "v1")
		return err == nil && mapping.Resource.Resource == "lookedfors"
	})
}

func TestAResetFindsANewKindAtOnce(t *testing.T) {
	w := newWorld(t)
	if _, _, err := w.Capabilities(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.define("Reset")
	gvk := schema.GroupVersionKind{Group: "cluster.example.com", Version: "v1", Kind: "Reset"}
	eventually.Until(t, "the kind is known", func() bool {
		meta.MaybeResetRESTMapper(w.Mapper)
		namespaced, known := w.Scope()(gvk)
		return known && !namespaced
	})
	caps, _, err := w.Capabilities(t.Context())
	w.must(err)
	if !strings.Contains(fmt.Sprint(caps.APIVersions), "cluster.example.com/v1/Reset") {
		t.Error("the mapper knows a kind that charts are not told of")
	}
}

func TestAGroupThatCannotBeAskedForIsNotTakenForMissing(t *testing.T) {
	w := newWorld(t)
	service := w.make(`
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.broken.example.com}
spec:
  group: broken.example.com
  version: v1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: {name: nobody, namespace: default}
`)
	partial := ""
	look := func() string {
		w.Refresh()
		_, now, err := w.Capabilities(t.Context())
		w.must(err)
		return now
	}
	eventually.Until(t, "the API list is partial", func() bool { partial = look(); return partial != "" })
	if !strings.Contains(partial, "broken.example.com/v1") {
		t.Errorf("the words %q do not name the group", partial)
	}
	_, err := w.Mapper.RESTMapping(schema.GroupKind{Group: "broken.example.com", Kind: "Any"}, "v1")
	if _, ok := discovery.GroupDiscoveryFailedErrorGroups(err); !ok {
		t.Errorf("a kind of the group gave %v", err)
	}
	if found, err := w.Lookup(t.Context(), render.Question{APIVersion: "broken.example.com/v1", Kind: "Any", Name: "x"}); err == nil {
		t.Errorf("a lookup in the group gave %v and no error", found)
	}
	if _, err := w.Mapper.RESTMapping(schema.GroupKind{Group: "cluster.example.com", Kind: "None"}, "v1"); !meta.IsNoMatchError(err) {
		t.Errorf("an unknown kind of another group gave %v", err)
	}

	w.must(client.IgnoreNotFound(w.admin.Delete(t.Context(), service)))
	eventually.Until(t, "the API list is whole again", func() bool { return look() == "" })
}
