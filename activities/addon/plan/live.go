package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/mask"
)

// parallel is how many objects are asked for at a time.
const parallel = 8

var (
	errNoName = errors.New("it has no name: only a hook may leave the name to the API server")
	errTwice  = errors.New("it is rendered twice")
)

// target is an object of the set beside what the cluster has.
type target struct {
	manifest.Object

	id       manifest.ID
	resource dynamic.ResourceInterface // nil if the cluster does not serve its kind yet
	live     *unstructured.Unstructured
	// unserved says why resource is nil.
	unserved string
	// migrates is set if the plan is made for fields that former managers let go.
	migrates bool
}

// session is one comparison: what all of its objects have in common.
type session struct {
	Planner
	Request

	targets   []*target
	leftovers []*leftover
	crowd     crowd
	scaled    map[manifest.ID]bool // those whose replicas are an autoscaler's
	owned     map[types.UID]bool
	mask      masker
}

// newSession knows the set, and nothing of the cluster yet.
func (p Planner) newSession(r Request) *session {
	s := &session{Planner: p, Request: r, owned: map[types.UID]bool{}}
	for _, o := range r.Previous {
		s.owned[o.UID] = true
	}
	for _, o := range r.Set.Objects {
		s.targets = append(s.targets, &target{Object: o, id: o.ID()})
	}
	s.crowd = newCrowd(s.targets)
	s.learnSecrets()
	return s
}

// look reads all that the set is compared with.
func (p Planner) look(ctx context.Context, r Request) (*session, error) {
	if len(r.Set.Objects) == 0 && r.Prune && len(r.Previous) > 0 {
		return nil, ErrEmpty
	}
	s := p.newSession(r)
	if err := s.each(ctx, s.find); err != nil {
		return nil, err
	}
	if err := s.findLeftovers(ctx); err != nil {
		return nil, err
	}
	s.learnSecrets()
	s.crowd.missing(s.targets)
	if err := s.checkDefinitions(ctx); err != nil {
		return nil, err
	}
	var err error
	s.scaled, err = s.autoscaled(ctx)
	return s, err
}

// checkDefinitions refuses what was not looked for because its kind seemed unknown,
// while the cluster has its definition: it may be there.
func (s *session) checkDefinitions(ctx context.Context) error {
	return s.each(ctx, func(_ context.Context, i int) error {
		t := s.targets[i]
		definition, ok := s.crowd.definition(t)
		if t.unserved != "" && ok && serves(s.crowd.first[definition].live, t.GroupVersionKind().Version) {
			return ErrStale
		}
		return nil
	})
}

// learnSecrets makes the mask of all secrets that are known so far, those that will be
// overwritten too.
func (s *session) learnSecrets() {
	all := slices.Clone(s.Secrets)
	for _, t := range s.targets {
		all = append(all, mask.SecretsOf(t.Unstructured)...)
		all = append(all, mask.SecretsOf(t.live)...)
	}
	for _, h := range s.Set.Hooks {
		all = append(all, mask.SecretsOf(h.Unstructured)...)
	}
	for _, l := range s.leftovers {
		all = append(all, mask.SecretsOf(l.live)...)
	}
	s.mask = masker{mask.New(all)}
}

// each does f to all targets, some at a time, and collects what failed.
func (s *session) each(ctx context.Context, f func(context.Context, int) error) error {
	ids := make([]manifest.ID, len(s.targets))
	for i, t := range s.targets {
		ids[i] = t.id
	}
	return gather(ctx, ids, inParallel(ctx, len(ids), f), s.mask)
}

func inParallel(ctx context.Context, n int, f func(context.Context, int) error) []error {
	errs := make([]error, n)
	var g errgroup.Group
	g.SetLimit(parallel)
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			errs[i] = f(ctx, i)
			return nil
		})
	}
	_ = g.Wait() // the errors are in errs
	return errs
}

// find reads the live object of target i.
func (s *session) find(ctx context.Context, i int) error {
	t := s.targets[i]
	switch {
	case t.id.Name == "":
		return errNoName
	case s.crowd.first[t.id] != t:
		return errTwice
	}
	return s.locate(ctx, t)
}

// locate finds where objects like t are, and reads t there.
func (s *session) locate(ctx context.Context, t *target) error {
	mapping, err := s.Mapper.RESTMapping(t.id.GroupKind, t.GroupVersionKind().Version)
	if err != nil {
		t.unserved = s.crowd.provides(t.GroupVersionKind())
		if meta.IsNoMatchError(err) && t.unserved != "" {
			return nil
		}
		return unserved(err)
	}
	if t.resource, err = s.resource(mapping, t.id); err != nil {
		return err
	}
	return t.read(ctx)
}

func (t *target) read(ctx context.Context) error {
	live, err := t.resource.Get(ctx, t.id.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		t.live = nil
		return nil
	case err != nil:
		return fmt.Errorf("read it: %w", err)
	}
	t.live = live
	return nil
}

func (p Planner) resource(mapping *meta.RESTMapping, id manifest.ID) (dynamic.ResourceInterface, error) {
	all := p.Client.Resource(mapping.Resource)
	switch {
	case mapping.Scope.Name() == meta.RESTScopeNameRoot && id.Namespace != "":
		return nil, fmt.Errorf("it is cluster-scoped and has the namespace %s: remove the namespace", id.Namespace)
	case mapping.Scope.Name() == meta.RESTScopeNameRoot:
		return all, nil
	case id.Namespace == "":
		return nil, errors.New("it has no namespace")
	}
	return all.Namespace(id.Namespace), nil
}

// unserved explains err, which came from looking up a kind.
func unserved(err error) error {
	if meta.IsNoMatchError(err) {
		return fmt.Errorf("the cluster does not serve its kind, and no CustomResourceDefinition of the set does: %w", err)
	}
	return fmt.Errorf("the APIs of the cluster are known in part only, so it cannot be compared: %w", err)
}
