// Package look says of an add-on what its source makes, what a sync of that would do, and how
// what was applied is; it writes nothing.
package look

import (
	"context"
	"slices"
	"time"

	"example.com/fairlead/activities/addon/cluster"
	"example.com/fairlead/activities/addon/kept"
	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/mask"
	"example.com/fairlead/activities/addon/plan"
	"example.com/fairlead/activities/addon/setstore"
	"example.com/fairlead/activities/addon/source"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

// Sources renders add-ons.
type Sources interface {
	// Render makes what the source of an add-on has. It takes one of known as it is, if that
	// is the same.
	Render(ctx context.Context, a *addons.Addon, known ...kept.Render) (source.Rendered, error)
	// Secrets are the secret values of an add-on, to be masked, as far as they are there.
	Secrets(ctx context.Context, a *addons.Addon) ([][]byte, error)
}

// Looker looks at add-ons. It may be used from several goroutines.
type Looker struct {
	Sources Sources
	Cluster *cluster.Cluster
	Store   kept.Store
	Now     func() time.Time
}

// Look is what was seen of an add-on. No secret is in it but for the render.
type Look struct {
	Render kept.Render
	// RenderDigest is that of the render in the set store; empty if it is not kept yet.
	RenderDigest setstore.Digest

	Plan *plan.Plan
	// PlanDigest is that of the same plan in the set store; empty if it is not kept yet.
	PlanDigest setstore.Digest
	// Made is when the plan was.
	Made time.Time

	// Previous is the inventory that the plan was made with.
	Previous setstore.Digest
	// Inventory is what it has to be from now on. If a sync would do something, that is all
	// that was and all that may come. If not, it is exact.
	Inventory kept.Inventory
	// InventoryDigest may be that of Previous. It is empty for none.
	InventoryDigest setstore.Digest

	// Lifecycle of a sync now, and the hooks that it runs.
	Lifecycle string
	Hooks     []Step
	// Health of what was applied; its zero value if nothing ever was.
	Health addons.Health

	Facts
}

// ToDo says whether a sync would do something, or must not.
func (l *Look) ToDo() bool { return l.Writes > 0 || len(l.Hooks) > 0 || l.Blocked != "" }

// Look looks at an add-on.
func (l *Looker) Look(ctx context.Context, a *addons.Addon) (*Look, error) {
	before, err := l.stored(ctx, a)
	if err != nil {
		return nil, err
	}
	made, err := l.Sources.Render(ctx, a, before.renders...)
	if err != nil {
		return nil, err
	}
	if len(made.Set.Objects) == 0 && len(before.inventory) > 0 {
		return nil, plan.ErrEmpty
	}
	out := &Look{Render: made.Render, Previous: before.inventoryDigest, Made: l.Now()}
	if out.RenderDigest, err = l.knownDigest(a, before, made); err != nil {
		return nil, err
	}
	out.Lifecycle = lifecycle(a, made.Content)
	if out.Hooks, err = steps(a, made.Set, out.Lifecycle); err != nil {
		return nil, err
	}
	r := Request(a, made.Set, before.inventory, made.Secrets)
	r.Set.Hooks = those(made.Set.Hooks, out.Lifecycle, a.Spec.SkipHooks)
	if out.Plan, err = l.Planner().Plan(ctx, r); err != nil {
		return nil, err
	}
	secrets := Mask(made.Set, made.Secrets)
	out.Facts = factsOf(out.Plan, before.inventory, made, secrets)
	out.PlanDigest = before.samePlan(out)
	return out, l.take(ctx, a, out, before.inventory, secrets)
}

// Planner compares with the cluster.
func (l *Looker) Planner() plan.Planner {
	return plan.Planner{Client: l.Cluster.Dynamic, Mapper: l.Cluster.Mapper, Hash: l.Store.Hash}
}

// Request is what is planned of an add-on, and done: the same, or what was reviewed is not
// what is applied.
func Request(a *addons.Addon, set manifest.Set, previous kept.Inventory, secrets [][]byte) plan.Request {
	return plan.Request{
		Addon: a.Name, Set: set, Previous: previous, Secrets: secrets,
		Adopt: a.Spec.Adopt, Prune: a.Spec.Prune, Ignore: a.Spec.IgnoreDifferences,
		ReplaceAllowed: a.Spec.ReplacePolicy == addons.ReplaceOnApproval, After: lastSync(a),
	}
}

// lastSync tells the last sync from those before it. Its time is of whole seconds.
func lastSync(a *addons.Addon) string {
	if a.Status.LastSynced == nil {
		return ""
	}
	return a.Status.LastSynced.UTC().Format(time.RFC3339) + " " + a.Status.AppliedHash
}

// Mask hides the secrets of a set, and others.
func Mask(set manifest.Set, secrets [][]byte) mask.Mask {
	all := slices.Clone(secrets)
	for _, o := range set.Objects {
		all = append(all, mask.SecretsOf(o.Unstructured)...)
	}
	for _, h := range set.Hooks {
		all = append(all, mask.SecretsOf(h.Unstructured)...)
	}
	return mask.New(all)
}
