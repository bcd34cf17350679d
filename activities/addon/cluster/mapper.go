package cluster

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// mapper is a RESTMapper over what the API server has.
type mapper struct{ served *served }

// Reset has the next question be answered by the API server.
func (m mapper) Reset() { m.served.forget() }

func (m mapper) KindFor(r schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	return answer(m.served, r.Group, func(known meta.RESTMapper) (schema.GroupVersionKind, error) { return known.KindFor(r) })
}

func (m mapper) KindsFor(r schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	return answer(m.served, r.Group, func(known meta.RESTMapper) ([]schema.GroupVersionKind, error) { return known.KindsFor(r) })
}

func (m mapper) ResourceFor(r schema.GroupVersionResource) (schema.GroupVersionResource, error) {
	return answer(m.served, r.Group, func(known meta.RESTMapper) (schema.GroupVersionResource, error) { return known.ResourceFor(r) })
}

func (m mapper) ResourcesFor(r schema.GroupVersionResource) ([]schema.GroupVersionResource, error) {
	return answer(m.served, r.Group, func(known meta.RESTMapper) ([]schema.GroupVersionResource, error) { return known.ResourcesFor(r) })
}

func (m mapper) RESTMapping(k schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	return answer(m.served, k.Group, func(known meta.RESTMapper) (*meta.RESTMapping, error) { return known.RESTMapping(k, versions...) })
}

func (m mapper) RESTMappings(k schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	return answer(m.served, k.Group, func(known meta.RESTMapper) ([]*meta.RESTMapping, error) { return known.RESTMappings(k, versions...) })
}

func (m mapper) ResourceSingularizer(resource string) (string, error) {
	return answer(m.served, "", func(known meta.RESTMapper) (string, error) { return known.ResourceSingularizer(resource) })
}

// answer is what ask gets of what is known, and if that is nothing of what is served now.
func answer[T any](s *served, group string, ask func(meta.RESTMapper) (T, error)) (T, error) {
	var none T
	ctx := context.Background() // a RESTMapper gets none; the client bounds its requests
	known, err := s.any(ctx)
	if err != nil {
		return none, err
	}
	got, err := ask(known.mapper)
	if !meta.IsNoMatchError(err) {
		return got, err
	}
	if known, err = s.within(ctx, again); err != nil {
		return none, err
	}
	got, err = ask(known.mapper)
	if failure := known.failure(group); meta.IsNoMatchError(err) && failure != nil {
		return none, failure
	}
	return got, err
}
