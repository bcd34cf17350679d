package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon/manifest"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

// Succeeded tidies up after all hooks of an event, in the order in which they ran: those
// whose policy says so are deleted, the last one first. Only now, for one may need another.
func (r *Runner) Succeeded(ctx context.Context, ran []Ran) error {
	var failures []error
	for _, h := range slices.Backward(ran) {
		failures = append(failures, r.finish(ctx, h, manifest.HookSucceeded))
	}
	return errors.Join(failures...)
}

// Failed tidies up after a hook that failed, and those that ran before it.
func (r *Runner) Failed(ctx context.Context, failed Ran, before []Ran) error {
	failures := []error{r.finish(ctx, failed, manifest.HookFailed)}
	for _, h := range before {
		failures = append(failures, r.finish(ctx, h, manifest.HookSucceeded))
	}
	return errors.Join(failures...)
}

// finish deletes what h has made if it has the policy, and lets it be as the chart has it if
// not. What another run has made is not touched.
func (r *Runner) finish(ctx context.Context, h Ran, policy manifest.DeletePolicy) error {
	o, err := h.object()
	if err != nil {
		return err
	}
	live, err := r.live(ctx, o)
	switch {
	case err != nil || live == nil || !h.made(live):
		return err
	case slices.Contains(h.DeletePolicies, policy) && !manifest.IsDefinition(live.GroupVersionKind().GroupKind()):
		return r.remove(ctx, live)
	}
	return r.restoreTTL(ctx, live)
}

func (r *Runner) restoreTTL(ctx context.Context, live *unstructured.Unstructured) error {
	ttl, err := strconv.ParseInt(live.GetAnnotations()[addons.AnnotationHookTTL], 10, 64)
	if err != nil { // it has none of ours
		return nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{addons.AnnotationHookTTL: nil}},
		"spec":     map[string]any{ttlField: ttl},
	})
	if err != nil {
		return fmt.Errorf("restore the TTL of hook %s: %w", manifest.IDOf(live), err)
	}
	err = r.Client.Patch(ctx, live, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(addons.FieldManager))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("restore the TTL of hook %s: %w", manifest.IDOf(live), err)
	}
	return nil
}

// remove deletes live, and returns when it is gone.
func (r *Runner) remove(ctx context.Context, live *unstructured.Unstructured) error {
	id, uid := manifest.IDOf(live), live.GetUID()
	err := r.Client.Delete(ctx, live, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // another one has its name by now
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete hook %s: %w", id, err)
	}
	if err := r.untilGone(ctx, live); err != nil {
		return fmt.Errorf("delete hook %s: it is not gone: %w", id, err)
	}
	return nil
}
