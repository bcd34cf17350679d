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
)

// Succeeded tidies up after all hooks of an event, in the order in which they ran: those
// whose policy says so are deleted, the last one first. Only now, for one may need another.
func (r *Runner) Succeeded(ctx context.Context, ran []manifest.Hook, run string) error {
	var failures []error
	for _, h := range slices.Backward(ran) {
		failures = append(failures, r.finish(ctx, h, run, manifest.HookSucceeded))
	}
	return errors.Join(failures...)
}

// Failed tidies up after a hook that failed, and those that ran before it.
func (r *Runner) Failed(ctx context.Context, failed manifest.Hook, before []manifest.Hook, run string) error {
	failures := []error{r.finish(ctx, failed, run, manifest.HookFailed)}
	for _, h := range before {
		failures = append(failures, r.finish(ctx, h, run, manifest.HookSucceeded))
	}
	return errors.Join(failures...)
}

// finish deletes what run has made of h if it has the policy, and lets it be as the chart has
// it if not. What another run has made is not touched.
func (r *Runner) finish(ctx context.Context, h manifest.Hook, run string, policy manifest.DeletePolicy) error {
	o, err := r.object(h, run)
	if err != nil {
		return err
	}
	live, err := r.live(ctx, o)
	switch {
	case err != nil || live == nil || !madeBy(live, run):
		return err
	case slices.Contains(h.DeletePolicies, policy) && !isDefinition(live):
		return r.remove(ctx, live)
	}
	return r.restoreTTL(ctx, live)
}

func (r *Runner) restoreTTL(ctx context.Context, live *unstructured.Unstructured) error {
	ttl, err := strconv.ParseInt(live.GetAnnotations()[ttlAnnotation], 10, 64)
	if err != nil { // it has none of ours
		return nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{ttlAnnotation: nil}},
		"spec":     map[string]any{"ttlSecondsAfterFinished": ttl},
	})
	if err != nil {
		return fmt.Errorf("restore the TTL of hook %s: %w", manifest.Object{Unstructured: live}.ID(), err)
	}
	err = r.Client.Patch(ctx, live, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(r.Manager))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("restore the TTL of hook %s: %w", manifest.Object{Unstructured: live}.ID(), err)
	}
	return nil
}

// remove deletes live, and returns when it is gone.
func (r *Runner) remove(ctx context.Context, live *unstructured.Unstructured) error {
	id, uid := manifest.Object{Unstructured: live}.ID(), live.GetUID()
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
