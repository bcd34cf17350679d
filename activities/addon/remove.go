package addon

import (
	"context"
	"errors"
	"strings"

	"example.com/fairlead/activities/addon/apply"
	"example.com/fairlead/activities/addon/mask"
	"example.com/fairlead/activities/addon/plan"
	"example.com/fairlead/activities/addon/setstore"
	"example.com/fairlead/internal/text"
	"example.com/fairlead/temporal/wire"
)

// maxKept is how many bytes are told of what is kept.
const maxKept = 1 << 10

// RemoveObjects deletes the objects of an add-on, in Helm's order but custom resources first,
// and waits until they are gone. It may be repeated.
func (a *Activities) RemoveObjects(ctx context.Context, in wire.AddonRemoveInput) (wire.AddonRemoved, error) {
	tell, stop := pulse(ctx)
	defer stop()
	o, err := a.leaving(ctx, in.Addon)
	if err != nil {
		return wire.AddonRemoved{}, err
	}
	inventory, err := a.Look.Inventory(ctx, o.Name, setstore.Digest(in.Inventory))
	if err != nil {
		return wire.AddonRemoved{}, judged(err)
	}
	secrets, err := a.secretsOf(ctx, o)
	if err != nil {
		return wire.AddonRemoved{}, err
	}
	r := plan.Request{Addon: o.Name, Previous: inventory, Prune: true}
	applier := &apply.Applier{Planner: a.Look.Planner(), Progress: func(s string) { tell(secrets.Text(s)) }}
	p, err := applier.Removal(ctx, r)
	if err != nil {
		return removed(wire.AddonRemoved{}, err, secrets)
	}
	out := wire.AddonRemoved{Kept: left(p)}
	if err := applier.Prune(ctx, r, p); err != nil {
		return removed(out, err, secrets)
	}
	out.Deleted = p.Counts.Prune
	return out, nil
}

// removed is the end of a removal that did not go well. What moved under it is looked at
// again: nobody reviewed it.
func removed(out wire.AddonRemoved, err error, secrets mask.Mask) (wire.AddonRemoved, error) {
	e := endOf(err, secrets)
	if out.Failed = e.failed; out.Failed == "" && e.moved != "" {
		return out, errors.New(e.moved)
	}
	return out, e.again
}

// left names what stays in the cluster on purpose.
func left(p *plan.Plan) string {
	var all []string
	for _, item := range p.Items {
		if item.Action == plan.Keep {
			all = append(all, item.ID.String()+" ("+item.Note+")")
		}
	}
	return text.Head(strings.Join(all, ", "), maxKept, "…")
}
