package addon

import (
	"context"
	"fmt"

	"example.com/fairlead/activities/addon/hooks"
	"example.com/fairlead/activities/addon/kept"
	"example.com/fairlead/activities/addon/look"
	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/plan"
	"example.com/fairlead/activities/outcome"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/internal/text"
	"example.com/fairlead/temporal/wire"
)

// maxHookName is how many bytes of a hook's name are in a history.
const maxHookName = 63

// Preview says what the source of an add-on renders to, and what a sync of it would do. What
// a sync needs is stored. Where there is nothing to do, and nothing new, nothing is written.
func (a *Activities) Preview(ctx context.Context, in wire.AddonPreviewInput) (wire.AddonPreview, error) {
	_, stop := pulse(ctx)
	defer stop()
	o, err := a.present(ctx, in.Addon)
	if err != nil {
		return wire.AddonPreview{}, err
	}
	if o.Generation != in.Generation {
		return wire.AddonPreview{}, fmt.Errorf("%w: Addon %s has generation %d, not %d", outcome.ErrSuperseded, in.Addon, o.Generation, in.Generation)
	}
	seen, err := a.Look.Look(ctx, o)
	if err != nil {
		return wire.AddonPreview{}, judged(err)
	}
	out := previewOf(seen)
	return out, a.store(ctx, o.Name, seen, &out)
}

func previewOf(seen *look.Look) wire.AddonPreview {
	out := wire.AddonPreview{
		Revision: seen.Render.Revision, Version: seen.Render.Version, Digest: seen.Render.Digest, Hash: seen.Render.Content,
		Render: string(seen.RenderDigest), Counts: countsOf(seen.Plan.Counts), Writes: seen.Writes, Summary: seen.Summary,
		Blocked: seen.Blocked, Adopts: seen.Adopts, Mass: seen.Mass, Warning: seen.Warning,
		Lifecycle: seen.Lifecycle, Health: healthOf(seen.Health),
	}
	for _, s := range seen.Hooks {
		out.Hooks = append(out.Hooks, wireHook(s.Event, s.Hook))
	}
	if seen.ToDo() {
		out.PlanHash = seen.Plan.Hash
	}
	return out
}

func countsOf(c plan.Counts) wire.AddonCounts {
	return wire.AddonCounts{
		Create: int32(c.Create), Update: int32(c.Update), Replace: int32(c.Replace), Prune: int32(c.Prune), //nolint:gosec // a set has no 2^31 objects
		Unchanged: int32(c.Unchanged), Unverified: int32(c.Unverified), //nolint:gosec // as above
	}
}

func healthOf(h addons.Health) wire.AddonHealth {
	return wire.AddonHealth{Status: string(h.Status), Message: h.Message}
}

func wireHook(event manifest.Event, h manifest.Hook) wire.AddonHook {
	name := h.GetName()
	if name == "" {
		name = h.GetGenerateName()
	}
	return wire.AddonHook{Event: string(event), Kind: h.GetKind(), Name: text.Head(name, maxHookName, ""), Works: hooks.Works(h)}
}

// store keeps what was seen, as far as that is new or to be done.
func (a *Activities) store(ctx context.Context, name string, seen *look.Look, out *wire.AddonPreview) error {
	if seen.RenderDigest == "" {
		d, err := a.Store.PutRender(ctx, name, seen.Render)
		if err != nil {
			return err
		}
		seen.RenderDigest, out.Render = d, string(d)
	}
	if seen.InventoryDigest != seen.Previous {
		if _, err := a.Store.PutInventory(ctx, name, seen.Inventory); err != nil {
			return err
		}
	}
	if !seen.ToDo() {
		if seen.InventoryDigest != seen.Previous {
			out.Inventory = string(seen.InventoryDigest)
		}
		return nil
	}
	out.Inventory, out.Plan = string(seen.InventoryDigest), string(seen.PlanDigest)
	if out.Plan != "" {
		return nil
	}
	d, err := a.Store.PutPlan(ctx, name, kept.Plan{Plan: *seen.Plan, Render: seen.RenderDigest, Previous: seen.Previous, Made: seen.Made})
	out.Plan = string(d)
	return err
}
