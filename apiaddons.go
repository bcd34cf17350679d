package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon"
	"example.com/fairlead/activities/addon/kept"
	"example.com/fairlead/activities/addon/plan"
	"example.com/fairlead/activities/addon/setstore"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/api/server"
)

// servedAddons is what the HTTP API needs for add-ons; nil if it serves none.
func (p *parts) servedAddons() *server.Addons {
	if !p.manager.keepsAddons() {
		return nil
	}
	return &server.Addons{
		Cache:   p.mgr.GetClient(),
		Objects: p.live,
		Sets:    &addonSets{client: p.live, namespace: p.addons.system},
	}
}

// cacheAddons fills the cache before the first request for an add-on. A cluster without
// the kind may get it later.
func (p *parts) cacheAddons(ctx context.Context) error {
	_, err := p.mgr.GetCache().GetInformer(ctx, &addons.Addon{})
	switch {
	case ctx.Err() != nil:
		return nil
	case meta.IsNoMatchError(err):
		p.log.Warn("the cluster has no kind Addon, so that the HTTP API shows none: apply deploy/crds to it")
		return nil
	case err != nil:
		return fmt.Errorf("watch the Addons: %w", err)
	}
	return nil
}

// addonSets is the set store for the HTTP API. It is opened when it is needed: its namespace
// may be made later than this process.
type addonSets struct {
	client    client.Client
	namespace string

	mu    sync.Mutex
	store *setstore.Store
}

func (s *addonSets) open(ctx context.Context) (kept.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store == nil {
		store, err := setstore.Open(ctx, setstore.Options{Client: s.client, Namespace: s.namespace, Clock: clock.RealClock{}, Random: rand.Reader})
		if err != nil {
			return kept.Store{}, err
		}
		s.store = store
	}
	return kept.Store{Store: s.store}, nil
}

// Signer implements server.Sets.
func (s *addonSets) Signer(ctx context.Context) (func([]byte) string, error) {
	store, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	return store.Hash, nil
}

// Plan implements server.Sets.
func (s *addonSets) Plan(ctx context.Context, a *addons.Addon) (server.Plan, error) {
	if a.Status.Sets == nil || a.Status.Sets.Plan == "" {
		return server.Plan{}, server.ErrNoPlan
	}
	store, err := s.open(ctx)
	if err != nil {
		return server.Plan{}, err
	}
	stored, err := store.Plan(ctx, setstore.Digest(a.Status.Sets.Plan))
	if errors.Is(err, setstore.ErrNotFound) {
		err = errors.Join(server.ErrNoPlan, err)
	}
	if err != nil {
		return server.Plan{}, fmt.Errorf("read the plan of add-on %s: %w", a.Name, err)
	}
	return shownPlan(stored), nil
}

// shownPlan is a plan as the API tells it: without what only a sync needs.
func shownPlan(p kept.Plan) server.Plan {
	shown := server.Plan{Hash: p.Hash, Made: p.Made, Counts: server.PlanCounts(p.Counts), Items: make([]server.PlanItem, len(p.Items))}
	for i := range p.Items {
		item := &p.Items[i]
		shown.Items[i] = server.PlanItem{
			ObjectRef: addon.RefOf(item.ID, item.Version), Action: string(item.Action), Diff: item.Diff, Immutable: item.Immutable,
			Unverified: item.Unverified, Blocked: item.Blocked, Owner: item.Owner, Note: item.Note, Adopts: item.Adopts,
		}
	}
	for _, h := range p.Hooks {
		shown.Hooks = append(shown.Hooks, shownHook(h))
	}
	return shown
}

func shownHook(h plan.Hook) server.PlanHook {
	shown := server.PlanHook{ObjectRef: addon.RefOf(h.ID, ""), Weight: h.Weight}
	for _, e := range h.Events {
		shown.Events = append(shown.Events, string(e))
	}
	return shown
}
