package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"

	"example.com/fairlead/activities/addon/render"
	"example.com/fairlead/internal/text"
)

const (
	// fresh is how long the API list is taken for what the cluster has: many add-ons are
	// looked at in a row.
	fresh = 30 * time.Second
	// again is how old it must be to be asked for anew because of one unknown kind.
	again = 5 * time.Second
	// maxPartial is how long the words for what is missing may be.
	maxPartial = 500
)

// apis is what the API server had to say of itself at one time. It is not changed.
type apis struct {
	render.Capabilities

	mapper meta.RESTMapper
	failed map[schema.GroupVersion]error
	at     time.Time
}

// served asks the API server what it has, and remembers it.
type served struct {
	client *discovery.DiscoveryClient
	now    func() time.Time
	// turn is held by who asks, or changes last.
	turn chan struct{}
	last *apis
}

func newServed(c *discovery.DiscoveryClient, now func() time.Time) *served {
	return &served{client: c, now: now, turn: make(chan struct{}, 1)}
}

// forget has the next one ask again, also if somebody is asking just now.
func (s *served) forget() {
	s.turn <- struct{}{}
	s.last = nil
	<-s.turn
}

// within is what the API server said at most so long ago. Callers at the same time ask once.
func (s *served) within(ctx context.Context, age time.Duration) (*apis, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.last != nil && s.now().Sub(s.last.at) < age {
		return s.last, nil
	}
	asked, err := s.ask(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask the API server for its version and kinds: %w", err)
	}
	s.last = asked
	return asked, nil
}

// any is what the API server said last, whenever that was.
func (s *served) any(ctx context.Context) (*apis, error) {
	return s.within(ctx, math.MaxInt64)
}

func (s *served) ask(ctx context.Context) (*apis, error) {
	version, err := s.client.ServerVersionWithContext(ctx)
	if err != nil {
		return nil, err
	}
	at := s.now()
	groups, resources, err := s.client.ServerGroupsAndResourcesWithContext(ctx)
	failed := &discovery.ErrGroupDiscoveryFailed{}
	if err != nil && !errors.As(err, &failed) {
		return nil, err
	}
	return &apis{
		Capabilities: render.Capabilities{KubeVersion: version.GitVersion, APIVersions: apiVersions(groups, resources)},
		mapper:       restmapper.NewDiscoveryRESTMapper(grouped(groups, resources)),
		failed:       failed.Groups, at: at,
	}, nil
}

// apiVersions are what Helm tells charts: apps/v1, and apps/v1/Deployment.
func apiVersions(groups []*metav1.APIGroup, resources []*metav1.APIResourceList) []string {
	var all []string
	for _, group := range groups {
		for _, v := range group.Versions {
			all = append(all, v.GroupVersion)
		}
	}
	for _, list := range resources {
		for _, r := range list.APIResources {
			all = append(all, path.Join(list.GroupVersion, r.Kind))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func grouped(groups []*metav1.APIGroup, resources []*metav1.APIResourceList) []*restmapper.APIGroupResources {
	byVersion := map[string][]metav1.APIResource{}
	for _, list := range resources {
		byVersion[list.GroupVersion] = list.APIResources
	}
	all := make([]*restmapper.APIGroupResources, 0, len(groups))
	for _, group := range groups {
		in := &restmapper.APIGroupResources{Group: *group, VersionedResources: map[string][]metav1.APIResource{}}
		for _, v := range group.Versions {
			if kinds, ok := byVersion[v.GroupVersion]; ok {
				in.VersionedResources[v.Version] = kinds
			}
		}
		all = append(all, in)
	}
	return all
}

// partial says which groups are missing, in words; empty for none.
func (a *apis) partial() string {
	if len(a.failed) == 0 {
		return ""
	}
	var why []string
	for gv, err := range a.failed {
		why = append(why, fmt.Sprintf("%s (%v)", gv, err))
	}
	slices.Sort(why)
	return text.Head("the API server cannot tell what it has of "+strings.Join(why, ", "), maxPartial, "…")
}

// failure is the error of the group, if it could not be asked for.
func (a *apis) failure(group string) error {
	failed := map[schema.GroupVersion]error{}
	for gv, err := range a.failed {
		if gv.Group == group {
			failed[gv] = err
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return &discovery.ErrGroupDiscoveryFailed{Groups: failed}
}
