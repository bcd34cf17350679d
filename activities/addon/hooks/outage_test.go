package hooks_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon/hooks"
	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/internal/eventually"
)

// blind is a client that can list and watch no hooks.
type blind struct {
	client.WithWatch

	why error
}

func (b *blind) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if _, ok := list.(*unstructured.UnstructuredList); ok {
		return b.why
	}
	return b.WithWatch.List(ctx, list, opts...)
}

func (b *blind) Watch(context.Context, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
	return nil, b.why
}

// deaf is one that cannot read either.
type deaf struct{ blind }

func (d *deaf) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return d.why
}

func TestOutage(t *testing.T) {
	away := errors.New("connection refused")
	forbidden := apierrors.NewForbidden(schema.GroupResource{Group: "batch", Resource: "jobs"}, "migrate", errors.New("no such right"))
	t.Run("one that has ended meanwhile has not failed", func(t *testing.T) {
		w := newWorld(t)
		h := w.job("migrate")
		w.Client = &blind{w.Client, away}
		r := w.run(h, "1", 3*time.Second)
		eventually.Until(t, "the Job is there", func() bool { return w.live(h) != nil })
		w.status(h, completed)
		_, err := r.result()
		w.must(err)
	})
	t.Run("what cannot be looked at has not failed", func(t *testing.T) {
		w := newWorld(t)
		h := w.job("migrate")
		w.must(w.Client.Create(t.Context(), h.DeepCopy()))
		w.Client = &deaf{blind{w.Client, away}}
		_, err := w.run(h, "1", time.Second).result()
		var failed *hooks.FailedError
		if err == nil || errors.As(err, &failed) || !errors.Is(err, away) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a missing right is told at once", func(t *testing.T) {
		w := newWorld(t)
		h := w.job("migrate")
		w.Client = &blind{w.Client, forbidden}
		_, err := w.run(h, "1", time.Minute).result()
		var failed *hooks.FailedError
		if !apierrors.IsForbidden(err) || errors.As(err, &failed) {
			t.Errorf("error %v", err)
		}
	})
}

func TestOddHooks(t *testing.T) {
	t.Run("a Job whose TTL is null has none", func(t *testing.T) {
		w := newWorld(t)
		h := w.job("migrate", func(h *manifest.Hook) {
			spec, _ := h.Object.Object["spec"].(map[string]any)
			spec["ttlSecondsAfterFinished"] = nil
		})
		r := w.start(h, "1")
		w.status(h, completed)
		_, err := r.result()
		w.must(err)
	})
	t.Run("one that is suspended says so", func(t *testing.T) {
		w := newWorld(t)
		h := w.job("migrate", func(h *manifest.Hook) {
			spec, _ := h.Object.Object["spec"].(map[string]any)
			spec["suspend"] = true
		})
		w.failed(w.run(h, "1", 2*time.Second), "had not ended after 2s", "suspended")
	})
	t.Run("one that somebody deletes is made again when the run goes on", func(t *testing.T) {
		w := newWorld(t)
		h := w.hook("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, finalizers: [example.com/wait]}}")
		_, err := w.run(h, "1", time.Minute).result()
		w.must(err)
		before := w.live(h)
		w.must(w.Client.Delete(t.Context(), before))
		r := w.run(h, "1", time.Minute)
		w.must(w.Client.Patch(t.Context(), before, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))))
		_, err = r.result()
		w.must(err)
		if live := w.live(h); live == nil || live.GetUID() == before.GetUID() || live.GetDeletionTimestamp() != nil {
			t.Errorf("live %v", live)
		}
		w.must(w.Client.Patch(t.Context(), w.live(h), client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))))
	})
	t.Run("a run must have a name", func(t *testing.T) {
		w := newWorld(t)
		h := w.job("migrate")
		for _, name := range []string{"", "\xff", strings.Repeat("x", 600)} {
			if _, err := w.run(h, name, time.Minute).result(); err == nil || w.live(h) != nil {
				t.Errorf("run %q: %v", name, err)
			}
		}
	})
}
