package health

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addons "example.com/fairlead/api/addons/v1alpha1"
)

// kind is where the objects of a kind are served, or why that is not known.
type kind struct {
	mapping *meta.RESTMapping
	err     error
}

// mapped asks once for each kind: mappers ask the API server again and again for what it
// does not serve.
func mapped(mapper meta.RESTMapper, objects []Owned) map[schema.GroupKind]kind {
	kinds := map[schema.GroupKind]kind{}
	for _, o := range objects {
		if _, ok := kinds[o.GroupKind]; !ok {
			mapping, err := mapper.RESTMapping(o.GroupKind)
			kinds[o.GroupKind] = kind{mapping, err}
		}
	}
	return kinds
}

// look reads one object and judges it.
func look(ctx context.Context, reader client.Reader, k kind, o Owned) (Verdict, error) {
	if k.err != nil {
		return unread(k, o, k.err)
	}
	live, err := read(ctx, reader, k.mapping.GroupVersionKind, client.ObjectKey{Namespace: o.Namespace, Name: o.Name})
	switch {
	case err != nil:
		return unread(k, o, err)
	case o.UID != "" && live.GetUID() != o.UID:
		return Verdict{addons.HealthMissing, "was deleted, and what has its name is another object"}, nil
	default:
		return Judge(live), nil
	}
}

// read gets an object. Of those that only hold data, which may be secret and large, it gets
// the metadata.
func read(ctx context.Context, reader client.Reader, gvk schema.GroupVersionKind, key client.ObjectKey) (*unstructured.Unstructured, error) {
	if gvk.Group != "" || gvk.Kind != "Secret" && gvk.Kind != "ConfigMap" {
		live := &unstructured.Unstructured{}
		live.SetGroupVersionKind(gvk)
		return live, reader.Get(ctx, key, live)
	}
	partial := &metav1.PartialObjectMetadata{}
	partial.SetGroupVersionKind(gvk)
	if err := reader.Get(ctx, key, partial); err != nil {
		return nil, err
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(partial)
	return &unstructured.Unstructured{Object: object}, err
}

// unread is the verdict on an object that could not be read. It is err where that says nothing
// about the object or its kind.
func unread(k kind, o Owned, err error) (Verdict, error) {
	switch {
	case meta.IsNoMatchError(err), isNotServed(err):
		return Verdict{addons.HealthUnknown, "its API is not served: " + o.GroupKind.String()}, nil
	case apierrors.IsNotFound(err):
		return Verdict{addons.HealthMissing, "is not there"}, nil
	case apierrors.IsForbidden(err):
		return Verdict{addons.HealthUnknown, "there is no right to get " + right(k, o)}, nil
	case extends(o.Group) && isDown(err):
		// As of an aggregated API whose server is down, or a conversion that fails.
		return Verdict{addons.HealthUnknown, "its API does not answer: " + err.Error()}, nil
	default:
		return Verdict{}, err
	}
}

func isDown(err error) bool {
	switch apierrors.ReasonForError(err) {
	case metav1.StatusReasonServiceUnavailable, metav1.StatusReasonInternalError,
		metav1.StatusReasonTimeout, metav1.StatusReasonServerTimeout:
		return true
	default:
		return false
	}
}

// isNotServed tells the 404 of a path that the API server does not know from that of an
// object: only the latter is a Status.
func isNotServed(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// extends says whether a group is none of Kubernetes' own, which fail only with all the rest.
func extends(group string) bool { return !scheme.Scheme.IsGroupRegistered(group) }

func right(k kind, o Owned) string {
	what := o.GroupKind.String()
	if k.mapping != nil {
		what = k.mapping.Resource.GroupResource().String()
	}
	if o.Namespace == "" {
		return what
	}
	return what + " in namespace " + o.Namespace
}
