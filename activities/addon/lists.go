package addon

import (
	"cmp"
	"context"
	"strings"

	"example.com/fairlead/activities/addon/kept"
	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/plan"
	"example.com/fairlead/activities/addon/setstore"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// lists are what a status shows of the set store.
type lists struct {
	store kept.Store
	old   *addons.AddonStatus
	// versions of the APIs of objects: an inventory has none.
	versions map[manifest.ID]string
	// needed are the sets that must not be evicted.
	needed []setstore.Digest
	// lost names what cannot be shown.
	lost []string
}

// show gives s its lists: those that the old status has, if they are of the same sets.
func (l *lists) show(ctx context.Context, s *addons.AddonStatus, in wire.AddonPublishInput) error {
	if err := l.showHooks(ctx, s, setstore.Digest(in.Render)); err != nil {
		return err
	}
	digests := in.Status.Sets
	if digests == fromStatus(l.old).Sets && !strings.Contains(l.old.Message, unshown) {
		l.carry(s)
		return nil
	}
	for _, d := range []string{digests.Plan, digests.Render, digests.Inventory, in.Render} {
		l.needed = append(l.needed, setstore.Digest(d))
	}
	l.versions = map[manifest.ID]string{}
	for _, o := range l.old.Objects {
		l.versions[idOf(o)] = o.Version
	}
	if err := l.showPlan(ctx, s, setstore.Digest(digests.Plan)); err != nil {
		return err
	}
	if digests.Plan == "" && digests.Render != "" {
		if err := l.learn(ctx, setstore.Digest(digests.Render)); err != nil {
			return err
		}
	}
	return l.showObjects(ctx, s, setstore.Digest(digests.Inventory))
}

// carry takes the lists of the old status over.
func (l *lists) carry(s *addons.AddonStatus) {
	s.Objects, s.ObjectsTotal = l.old.Objects, l.old.ObjectsTotal
	if s.Plan == nil || l.old.Plan == nil {
		return
	}
	s.Plan.Items = l.old.Plan.Items
	s.Preview = newPreview(s.Plan)
	if l.old.Preview != nil {
		s.Preview.Items = l.old.Preview.Items
	}
}

// showHooks lists the hooks of a render. Without it they stay as they were listed.
func (l *lists) showHooks(ctx context.Context, s *addons.AddonStatus, d setstore.Digest) error {
	s.Hooks = l.old.Hooks
	if d == "" {
		return nil
	}
	r, err := l.store.Render(ctx, d)
	switch {
	case setstore.IsLost(err): // a look that finds nothing to do stores nothing
		return nil
	case err != nil:
		return err
	}
	s.Hooks = nil
	for _, h := range r.Set.Hooks {
		ref := addons.HookRef{Name: cmp.Or(h.GetName(), h.GetGenerateName()), Kind: h.GetKind()}
		for _, e := range h.Events {
			ref.Events = append(ref.Events, string(e))
		}
		s.Hooks = append(s.Hooks, ref)
	}
	return nil
}

// showPlan lists what a plan would change, and how.
func (l *lists) showPlan(ctx context.Context, s *addons.AddonStatus, d setstore.Digest) error {
	if s.Plan != nil {
		s.Preview = newPreview(s.Plan)
	}
	if d == "" {
		return nil
	}
	p, err := l.store.Plan(ctx, d)
	switch {
	case setstore.IsLost(err):
		l.lost = append(l.lost, "what the plan would change")
		return nil
	case err != nil:
		return err
	}
	l.needed = append(l.needed, p.Render, p.Previous)
	for _, i := range p.Items {
		l.versions[i.ID] = i.Version
		if s.Plan == nil || i.Action == plan.Unchanged || i.Action == plan.Keep {
			continue
		}
		ref, action := RefOf(i.ID, i.Version), addons.Action(i.Action)
		s.Plan.Items = append(s.Plan.Items, addons.PlanItem{ObjectRef: ref, Action: action, Unverified: i.Unverified})
		if action == addons.ActionReplace {
			action = addons.ActionUpdate
		}
		s.Preview.Items = append(s.Preview.Items, addons.PreviewItem{ObjectRef: ref, Action: action, Diff: i.Diff})
	}
	return nil
}

// newPreview is a plan in numbers.
func newPreview(p *addons.Plan) *addons.Preview {
	return &addons.Preview{Create: p.Create, Update: p.Update + p.Replace, Unchanged: p.Unchanged, Prune: p.Prune}
}

// learn takes the versions of objects from the render that was applied.
func (l *lists) learn(ctx context.Context, d setstore.Digest) error {
	r, err := l.store.Render(ctx, d)
	switch {
	case setstore.IsLost(err): // what the old status has is known all the same
		return nil
	case err != nil:
		return err
	}
	for _, o := range r.Set.Objects {
		l.versions[o.ID()] = o.GroupVersionKind().Version
	}
	return nil
}

// showObjects lists what was applied.
func (l *lists) showObjects(ctx context.Context, s *addons.AddonStatus, d setstore.Digest) error {
	inventory, err := l.store.Inventory(ctx, d)
	switch {
	case setstore.IsLost(err):
		l.lost = append(l.lost, "the objects")
		return nil
	case err != nil:
		return err
	}
	s.ObjectsTotal = toInt32(len(inventory))
	for _, o := range inventory {
		s.Objects = append(s.Objects, RefOf(o.ID, l.versions[o.ID]))
	}
	return nil
}

// RefOf names an object as statuses do.
func RefOf(id manifest.ID, version string) addons.ObjectRef {
	return addons.ObjectRef{Group: id.Group, Version: version, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}
}

func idOf(r addons.ObjectRef) manifest.ID {
	id := manifest.ID{Namespace: r.Namespace, Name: r.Name}
	id.Group, id.Kind = r.Group, r.Kind
	return id
}
