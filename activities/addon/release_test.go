package addon_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/setstore"
	"example.com/fairlead/activities/outcome"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// breaking is a client whose patches fail from the nth on.
type breaking struct {
	client.Client
	left int
}

var errBroken = errors.New("the connection broke")

func (b *breaking) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	if b.left--; b.left < 0 {
		return errBroken
	}
	return b.Client.Patch(ctx, o, p, opts...)
}

func TestRelease(t *testing.T) {
	o := newOffice(t)
	uninstall := func(a *addons.Addon) {
		metav1.SetMetaDataAnnotation(&a.ObjectMeta, addons.AnnotationUninstall, "true")
	}
	// held is an add-on with the finalizer and a render.
	held := func(name string) (wire.AddonRef, string) {
		ref := o.create(name)
		o.claim(ref)
		render := o.rendered(ref, "", map[string]manifest.Event{"bye": manifest.PreDelete})
		o.publish(wire.AddonPublishInput{Addon: ref, Status: wire.AddonStatus{Sequence: 1, Phase: "Synced", Sets: wire.AddonSets{Render: render}}})
		return ref, render
	}
	release := func(ref wire.AddonRef) error { return o.Release(t.Context(), wire.AddonReleaseInput{Addon: ref}) }
	has := func(render string) bool {
		_, err := o.Store.Render(t.Context(), setstore.Digest(render))
		return err == nil
	}
	gone := func(ref wire.AddonRef) bool {
		return apierrors.IsNotFound(o.Client.Get(t.Context(), client.ObjectKey{Name: ref.Name}, &addons.Addon{}))
	}

	t.Run("an object that is not being deleted keeps its finalizer and its sets", func(t *testing.T) {
		ref, render := held("kept")
		if err := release(ref); !errors.Is(err, outcome.ErrSuperseded) {
			t.Errorf("error = %v, want outcome.ErrSuperseded", err)
		}
		if diff := cmp.Diff([]string{addons.Finalizer}, o.read(ref).Finalizers); diff != "" || !has(render) {
			t.Errorf("sets are there: %v, finalizers (-want +got):\n%s", has(render), diff)
		}
	})
	t.Run("a deleted object goes with its sets, and releasing it again is no error", func(t *testing.T) {
		ref, render := held("deleted")
		_, other := held("other")
		o.edit(ref, uninstall)
		o.delete(ref)
		for range 2 {
			o.must(release(ref))
		}
		if !gone(ref) || has(render) || !has(other) {
			t.Errorf("gone: %v, its sets are there: %v, those of another: %v", gone(ref), has(render), has(other))
		}
	})
	t.Run("another object of that name keeps its sets", func(t *testing.T) {
		ref, render := held("again")
		ref.UID = "former"
		o.must(release(ref))
		if gone(ref) || !has(render) {
			t.Error("it, or its sets, are gone")
		}
	})
	t.Run("others' finalizers stay", func(t *testing.T) {
		ref, _ := held("shared")
		o.edit(ref, func(a *addons.Addon) { a.Finalizers = append(a.Finalizers, "example.com/other") })
		o.delete(ref)
		o.must(release(ref))
		if diff := cmp.Diff([]string{"example.com/other"}, o.read(ref).Finalizers); diff != "" {
			t.Errorf("finalizers (-want +got):\n%s", diff)
		}
	})
	t.Run("whatever ends an uninstall in between, the next claim goes on", func(t *testing.T) {
		for patches := range 2 {
			ref, _ := held([]string{"broken-early", "broken-late"}[patches])
			o.edit(ref, uninstall)
			o.delete(ref)
			whole := o.Client
			o.Client = &breaking{Client: whole, left: patches}
			err := release(ref)
			o.Client = whole
			if !errors.Is(err, errBroken) {
				t.Fatalf("after %d patches: %v", patches, err)
			}
			if c := o.claim(ref); !c.Deleting {
				t.Errorf("after %d patches: claim = %+v", patches, c)
			}
			if o.must(release(ref)); !gone(ref) {
				t.Errorf("after %d patches it is still there", patches)
			}
		}
	})
	t.Run("no Secret is left but the key", func(t *testing.T) {
		for _, name := range []string{"kept", "again", "other"} {
			ref := wire.AddonRef{Name: o.System + "-" + name}
			ref.UID = string(o.read(ref).UID)
			o.delete(ref)
			o.must(release(ref))
		}
		var secrets corev1.SecretList
		o.must(o.Client.List(t.Context(), &secrets, client.InNamespace(o.System)))
		if len(secrets.Items) != 1 || secrets.Items[0].Name != setstore.KeySecret {
			t.Errorf("left: %d", len(secrets.Items))
		}
	})
}
