package plan

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/fairlead/activities/addon/manifest"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

// attempts bounds how often an object is read anew because it changed between being
// read and its dry run.
const attempts = 5

var errBusy = errors.New("it changes all the time, and could not be compared: another program fights over it, or try again later")

// forecast is what the cluster would have after the object was applied.
type forecast struct {
	planned    map[string]any
	unverified string
	immutable  []string
}

// foresee asks the API server what applying t would make of it. Where it cannot be
// asked, the forecast is made from what is rendered.
func (s *session) foresee(ctx context.Context, t *target, doubt string) (forecast, error) {
	desired := t.Object.Object
	if t.unserved != "" {
		return forecast{planned: desired, unverified: t.unserved}, nil
	}
	namespace := manifest.ID{GroupKind: namespaceKind, Name: t.id.Namespace}
	if t.live == nil && s.crowd.absent[namespace] {
		return forecast{planned: desired, unverified: namespace.String() + " comes in the same plan"}, nil
	}
	result, err := s.dryRun(ctx, t)
	if ctx.Err() != nil {
		return forecast{}, ctx.Err()
	}
	switch fields, reason := immutableFields(err), s.excuse(err, t.id, doubt); {
	case err == nil && t.live == nil:
		// What the server would add may differ each time, as addresses do.
		return forecast{planned: desired, unverified: doubt}, nil
	case err == nil:
		return forecast{planned: result.Object, unverified: doubt}, nil
	case t.live != nil && len(fields) > 0:
		return forecast{planned: s.predict(t), immutable: fields, unverified: doubt}, nil
	case reason != "":
		return forecast{planned: s.predict(t), unverified: reason}, nil
	}
	return forecast{}, fmt.Errorf("dry run: %w", err)
}

// dryRun has the API server apply t without keeping it, on top of the very object
// that t.live is: it reads it anew if it became another.
func (s *session) dryRun(ctx context.Context, t *target) (*unstructured.Unstructured, error) {
	options := metav1.ApplyOptions{FieldManager: addons.FieldManager, Force: true, DryRun: []string{metav1.DryRunAll}}
	for range attempts {
		result, err := t.resource.Apply(ctx, t.id.Name, s.body(t), options)
		appeared := err == nil && t.live == nil && result.GetResourceVersion() != ""
		if err == nil && s.adopts(t) {
			result, err = s.migrate(ctx, t, result)
		}
		if !apierrors.IsConflict(err) && !appeared {
			return result, err
		}
		if err := t.read(ctx); err != nil {
			return nil, err
		}
	}
	return nil, errBusy
}

// body is what is sent to apply t on top of t.live, and on no other object. Ignored
// fields have the live value: to leave them out would remove those that the add-on
// once set, and let the API server put its default.
func (s *session) body(t *target) *unstructured.Unstructured {
	out := t.DeepCopy()
	for _, name := range []string{"managedFields", "resourceVersion", "uid", "generation", "selfLink", "creationTimestamp"} {
		unstructured.RemoveNestedField(out.Object, "metadata", name)
	}
	if t.live == nil {
		return out
	}
	out.SetUID(t.live.GetUID())
	out.SetResourceVersion(t.live.GetResourceVersion())
	live := t.live.DeepCopy()
	for _, p := range s.ignored(t) {
		value, has := p.get(live.Object)
		_, wanted := p.get(out.Object)
		switch {
		case has && (wanted || ownedAt(live, p)):
			p.set(out.Object, value)
		case wanted && !has:
			p.remove(out.Object)
		}
	}
	return out
}
