package addon_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/outcome"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

const operator = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: operator, namespace: NS}
spec:
  selector: {matchLabels: {app: operator}}
  template:
    metadata: {labels: {app: operator}}
    spec: {containers: [{name: main, image: example/none}]}
`

// uninstall deletes the add-on together with its objects.
func (w *world) uninstall() {
	w.t.Helper()
	o := w.object()
	o.Annotations = map[string]string{addons.AnnotationUninstall: "true"}
	w.must(w.admin.Update(w.t.Context(), o))
	w.must(w.admin.Delete(w.t.Context(), o))
}

func (w *world) remove() wire.AddonRemoved {
	w.t.Helper()
	got, err := w.RemoveObjects(w.t.Context(), wire.AddonRemoveInput{Addon: w.ref, Inventory: w.object().Status.Sets.Inventory})
	w.must(err)
	w.quiet(got)
	return got
}

// operate takes the finalizer off the object of text when it is deleted, as long as the
// operator is there.
func (w *world) operate(ctx context.Context, text string) {
	for ctx.Err() == nil {
		o := w.live(text)
		if o != nil && o.GetDeletionTimestamp() != nil && w.live(operator) != nil {
			p := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
			if err := client.IgnoreNotFound(w.admin.Patch(ctx, o, p)); err != nil {
				w.t.Error(err)
			}
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestRemovalDeletesCustomResourcesBeforeTheirOperator(t *testing.T) {
	w := newWorld(t, addons.AddonSpec{})
	gadget := w.gadget("Gizmo", "g", ", finalizers: [NS.test/operator]")
	claim := `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: NS}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`
	policy := `
apiVersion: v1
kind: ConfigMap
metadata: {name: precious, namespace: NS, annotations: {helm.sh/resource-policy: keep}}
`
	w.source.all = []string{w.definition("Gizmo"), gadget, operator, claim, policy, configMap("moved", "red"), configMap("a", "blue")}
	w.synced()
	w.patch(configMap("moved", ""), `{"metadata":{"labels":{"`+addons.LabelAddon+`":"other"}}}`)
	w.uninstall()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	operating := make(chan struct{})
	go func() {
		defer close(operating)
		w.operate(ctx, gadget)
	}()
	got := w.remove()
	stop()
	<-operating
	want := wire.AddonRemoved{Deleted: 3, Kept: strings.NewReplacer("NS", w.ns).Replace(
		"ConfigMap NS/moved (it is the add-on other's now), ConfigMap NS/precious (helm.sh/resource-policy is keep), " +
			"CustomResourceDefinition.apiextensions.k8s.io gizmos.NS.test (a CustomResourceDefinition is never pruned), " +
			"PersistentVolumeClaim NS/data (a PersistentVolumeClaim is never pruned)")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	for _, gone := range []string{gadget, operator, configMap("a", "")} {
		if w.live(gone) != nil {
			t.Errorf("it is still there: %s", gone)
		}
	}
	for _, stays := range []string{w.definition("Gizmo"), claim, policy, configMap("moved", "")} {
		if o := w.live(stays); o == nil || o.GetDeletionTimestamp() != nil {
			t.Errorf("it is gone: %s", stays)
		}
	}
	if again := w.remove(); again.Deleted != 0 || again.Kept != got.Kept {
		t.Errorf("a second removal says %+v", again)
	}
}

func TestRemovalIsForAddonsThatAreUninstalled(t *testing.T) {
	w := newWorld(t, addons.AddonSpec{}, configMap("a", "blue"))
	w.synced()
	w.must(w.admin.Delete(t.Context(), w.object()))
	_, err := w.RemoveObjects(t.Context(), wire.AddonRemoveInput{Addon: w.ref, Inventory: w.object().Status.Sets.Inventory})
	if !errors.Is(err, outcome.ErrSuperseded) || w.live(configMap("a", "")) == nil {
		t.Errorf("without the annotation: %v", err)
	}
}
