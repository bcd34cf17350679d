package look

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"example.com/fairlead/activities/addon/health"
	"example.com/fairlead/activities/addon/kept"
	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/mask"
	"example.com/fairlead/activities/addon/plan"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

// take says what the inventory is to be, and how what is in it is.
func (l *Looker) take(ctx context.Context, a *addons.Addon, out *Look, previous kept.Inventory, secrets mask.Mask) error {
	applied := previous
	if out.ToDo() {
		out.Inventory = union(previous, out.Plan)
	} else {
		out.Inventory = exact(out.Plan)
		applied = out.Inventory
	}
	var err error
	if len(out.Inventory) > 0 || out.Previous != "" {
		if out.InventoryDigest, err = l.Store.InventoryDigest(a.Name, out.Inventory); err != nil {
			return err
		}
	}
	if out.Previous == "" && !a.Status.Adopted {
		return nil
	}
	out.Health, err = l.Health(ctx, applied, secrets)
	return err
}

// Health says how the objects of an inventory are.
func (l *Looker) Health(ctx context.Context, of kept.Inventory, secrets mask.Mask) (addons.Health, error) {
	objects := make([]health.Owned, len(of))
	for i, o := range of {
		objects[i] = health.Owned{ID: o.ID, UID: o.UID}
	}
	h, err := health.Check(ctx, l.Cluster.Client, l.Cluster.Mapper, objects)
	h.Message = secrets.Leaf(h.Message)
	return h, secrets.Error(err, func(s string) string { return s })
}

// union is previous and what comes with p. Of an object that is not the add-on's until it is
// written, the inventory has no UID: with it, the next look would take the object as owned.
func union(previous kept.Inventory, p *plan.Plan) kept.Inventory {
	all := map[manifest.ID]types.UID{}
	for _, o := range previous {
		all[o.ID] = o.UID
	}
	for _, item := range p.Items {
		_, is := all[item.ID]
		switch {
		case item.Action == plan.Prune || item.Action == plan.Keep:
		case !item.Adopts && item.Blocked == "":
			all[item.ID] = item.UID
		case !is:
			all[item.ID] = ""
		}
	}
	return sorted(all)
}

// exact is what there is if nothing is left to be done of p.
func exact(p *plan.Plan) kept.Inventory {
	all := map[manifest.ID]types.UID{}
	for _, item := range p.Items {
		if item.Action == plan.Unchanged || item.Action == plan.Keep && !item.Foreign {
			all[item.ID] = item.UID
		}
	}
	return sorted(all)
}

// After is the inventory when p was done: the objects that were written, and those that stay
// in the cluster though they are not rendered any more.
func After(p *plan.Plan, written map[manifest.ID]types.UID) kept.Inventory {
	all := map[manifest.ID]types.UID{}
	for _, item := range p.Items {
		uid, is := written[item.ID]
		switch {
		case is:
			all[item.ID] = uid
		case item.Action == plan.Keep && !item.Foreign:
			all[item.ID] = item.UID
		}
	}
	return sorted(all)
}

// sorted is the inventory in an order of its own: the same objects have the same digest.
func sorted(all map[manifest.ID]types.UID) kept.Inventory {
	out := make(kept.Inventory, 0, len(all))
	for id, uid := range all {
		out = append(out, plan.Owned{ID: id, UID: uid})
	}
	slices.SortFunc(out, func(a, b plan.Owned) int { return cmp.Compare(a.ID.String(), b.ID.String()) })
	return out
}
