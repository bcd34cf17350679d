package plan

import (
	"context"
	"slices"

	"example.com/fairlead/activities/addon/manifest"
)

// items plans each object of the set. CustomResourceDefinitions come first: what they
// become decides what can be known about their custom resources.
func (s *session) items(ctx context.Context) ([]Item, error) {
	items := make([]Item, len(s.targets))
	changed := map[manifest.ID]bool{}
	err := s.each(ctx, func(ctx context.Context, i int) (err error) {
		if t := s.targets[i]; manifest.IsDefinition(t.id.GroupKind) {
			items[i], err = s.item(ctx, t, "")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if item.Action != "" && item.Action != Unchanged {
			changed[item.ID] = true
		}
	}
	err = s.each(ctx, func(ctx context.Context, i int) (err error) {
		t := s.targets[i]
		if manifest.IsDefinition(t.id.GroupKind) {
			return nil
		}
		doubt := ""
		if definition, ok := s.crowd.definition(t); ok && changed[definition] {
			doubt = definition.String() + " changes in the same plan"
		}
		items[i], err = s.item(ctx, t, doubt)
		return err
	})
	return items, err
}

// item plans one object. doubt says why the answer of the API server will be another
// one when the object's turn comes.
func (s *session) item(ctx context.Context, t *target, doubt string) (Item, error) {
	f, err := s.foresee(ctx, t, doubt)
	if err != nil {
		return Item{}, err
	}
	item := Item{
		ID: t.id, Version: t.GroupVersionKind().Version,
		Immutable: f.immutable, Unverified: f.unverified,
	}
	if t.live == nil {
		return s.creation(item, t, f.planned), nil
	}
	ignored := append(s.ignored(t), s.toolsMarks(t)...)
	item.UID, item.ResourceVersion = t.live.GetUID(), t.live.GetResourceVersion()
	live, planned := normal(t.live.Object, ignored), normal(f.planned, ignored)
	changes := compare(live, planned)
	item.Action = actionOn(f, changes)
	if item.Action != Unchanged {
		item.Diff = s.diff(t.id, live, planned)
	}
	s.own(&item, t)
	item.Hash = s.itemHash(item, s.desired(t), changes)
	return item, nil
}

// creation is item for an object that is not there.
func (s *session) creation(item Item, t *target, planned map[string]any) Item {
	item.Action = Create
	item.Diff = s.diff(t.id, nil, normal(planned, nil))
	item.Hash = s.itemHash(item, s.desired(t), nil)
	return item
}

// desired is what is rendered for t, less what the add-on leaves as it is. A new object
// gets all of it.
func (s *session) desired(t *target) map[string]any {
	if t.live == nil {
		return normal(t.Object.Object, nil)
	}
	return normal(t.Object.Object, s.ignored(t))
}

func actionOn(f forecast, changes []change) Action {
	switch {
	case len(f.immutable) > 0:
		return Replace
	case len(changes) == 0:
		return Unchanged
	}
	return Update
}

// hooks says which hooks the sync would run, in the order of the set.
func (s *session) hooks() []Hook {
	var out []Hook
	for _, h := range s.Set.Hooks {
		events := slices.Clone(h.Events)
		out = append(out, Hook{ID: h.ID(), Events: events, Weight: h.Weight, Hash: s.hookHash(h)})
	}
	return out
}
