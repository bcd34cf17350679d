package hooks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon/manifest"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

// jobKept is how long a Job stays at least whose TTL is shorter, until its outcome was seen:
// one that is gone tells nothing any more.
const jobKept = time.Hour

// maxName is how long the name of a Job or Pod may be, and maxBase what is left of it for a
// generateName.
const maxName, maxBase = 63, 55

// maxRun is how long the name of a run may be, in bytes.
const maxRun = 512

const ttlField = "ttlSecondsAfterFinished"

// ensure returns the object that this run of h has made, or makes it. What another run has
// left is deleted before, if h's policies say so.
func (r *Runner) ensure(ctx context.Context, h Ran) (*unstructured.Unstructured, error) {
	o, err := h.object()
	if err != nil {
		return nil, err
	}
	live, err := r.live(ctx, o)
	if err != nil {
		return nil, err
	}
	switch {
	case live == nil:
	case !h.made(live):
		err, live = r.makeWay(ctx, h, live), nil
	case live.GetDeletionTimestamp() != nil && !works(live): // somebody has deleted it
		err, live = r.untilGone(ctx, live), nil
	}
	if err != nil {
		return nil, err
	}
	if live != nil {
		return live, nil
	}
	return r.create(ctx, h, o)
}

func (r *Runner) create(ctx context.Context, h Ran, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	err := r.Client.Create(ctx, o, client.FieldOwner(addons.FieldManager))
	if apierrors.IsAlreadyExists(err) { // it may be ours: the reply of an earlier call was lost
		if live, lookErr := r.live(ctx, o); lookErr == nil && live != nil && h.made(live) {
			return live, nil
		}
	}
	switch {
	case apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
		return nil, r.failure(manifest.IDOf(o), "was refused: "+err.Error())
	case err != nil:
		return nil, fmt.Errorf("create hook %s: %w", manifest.IDOf(o), err)
	}
	return o, nil
}

// object is what is created for this run of h.
func (h Ran) object() (*unstructured.Unstructured, error) {
	if h.Run == "" || len(h.Run) > maxRun || !utf8.ValidString(h.Run) {
		return nil, fmt.Errorf("hook %s: its run is called %q, which is no text of 1 to %d bytes", h.ID(), h.Run, maxRun)
	}
	o := h.DeepCopy()
	if o.GetName() == "" { // the same run always makes the same one
		sum := sha256.Sum256([]byte(h.Run))
		o.SetName(o.GetGenerateName()[:min(len(o.GetGenerateName()), maxBase)] + hex.EncodeToString(sum[:])[:maxName-maxBase])
	}
	annotations := maps.Clone(o.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[addons.AnnotationHookRun] = h.Run
	if ttl, ok := ttlOf(o); ok && ttl < int64(jobKept.Seconds()) {
		annotations[addons.AnnotationHookTTL] = strconv.FormatInt(ttl, 10)
		if err := unstructured.SetNestedField(o.Object, int64(jobKept.Seconds()), "spec", ttlField); err != nil {
			return nil, fmt.Errorf("hook %s: %w", h.ID(), err)
		}
	}
	o.SetAnnotations(annotations)
	return o, nil
}

// ttlOf is the time after which a Job that has ended goes by itself. What is no Job, and what
// is wrong, has none: the API server judges it.
func ttlOf(o *unstructured.Unstructured) (int64, bool) {
	spec, _ := o.Object["spec"].(map[string]any)
	ttl, ok := spec[ttlField].(int64)
	return ttl, ok && isJob(o)
}

// made says whether this run of h has made live.
func (h Ran) made(live *unstructured.Unstructured) bool {
	return live.GetAnnotations()[addons.AnnotationHookRun] == h.Run
}

// live reads what there is of o, nil if there is nothing.
func (r *Runner) live(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(o.GroupVersionKind())
	err := r.Client.Get(ctx, client.ObjectKeyFromObject(o), live)
	switch {
	case apierrors.IsNotFound(err) || meta.IsNoMatchError(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read hook %s: %w", manifest.IDOf(o), err)
	}
	return live, nil
}

// makeWay deletes what is in the way of h.
func (r *Runner) makeWay(ctx context.Context, h Ran, live *unstructured.Unstructured) error {
	owner := live.GetLabels()[addons.LabelAddon]
	switch {
	case owner != "" && owner != r.Addon:
		return r.failure(h.ID(), "was not created: one of that name belongs to add-on "+owner)
	case !slices.Contains(h.DeletePolicies, manifest.BeforeHookCreation) || manifest.IsDefinition(live.GroupVersionKind().GroupKind()):
		return r.failure(h.ID(), "was not created: it exists already, and no "+string(manifest.BeforeHookCreation)+
			" policy has it replaced; delete it, or add the policy to the chart")
	}
	return r.remove(ctx, live)
}

// Works says whether h does work that has an end.
func Works(h manifest.Hook) bool { return works(h.Unstructured) }

// works says whether o does work that has an end.
func works(o *unstructured.Unstructured) bool { return isJob(o) || isPod(o) }

func isJob(o *unstructured.Unstructured) bool {
	return o.GroupVersionKind().GroupKind().String() == "Job.batch"
}

func isPod(o *unstructured.Unstructured) bool {
	return o.GroupVersionKind().GroupKind().String() == "Pod"
}
