package look

import (
	"context"
	"errors"
	"fmt"

	"example.com/fairlead/activities/addon/kept"
	"example.com/fairlead/activities/addon/setstore"
	"example.com/fairlead/activities/addon/source"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

// ErrNoInventory is that of an inventory which cannot be read.
var ErrNoInventory = errors.New("the inventory is lost, and it is all that tells which objects to prune and to uninstall: " +
	"restore its Secret; or give its objects up: delete the Addon without the annotation " + addons.AnnotationUninstall +
	", which leaves them running, and create it again, which finds those that it renders by their label")

// stored is what the set store has of an add-on.
type stored struct {
	plan       kept.Plan
	planDigest setstore.Digest

	// renders are the planned one and the applied one, as far as they are there.
	renders []kept.Render
	digests []setstore.Digest

	inventory       kept.Inventory
	inventoryDigest setstore.Digest
}

func (l *Looker) stored(ctx context.Context, a *addons.Addon) (*stored, error) {
	s := &stored{}
	if a.Status.Sets == nil {
		return s, nil
	}
	sets := *a.Status.Sets
	var err error
	s.inventoryDigest = setstore.Digest(sets.Inventory)
	if s.inventory, err = l.Inventory(ctx, a.Name, s.inventoryDigest); err != nil {
		return nil, err
	}
	wanted := []setstore.Digest{setstore.Digest(sets.Render)}
	if sets.Plan != "" {
		s.plan, err = l.Store.Plan(ctx, setstore.Digest(sets.Plan))
		if err := ifThere(err); err != nil {
			return nil, err
		}
		if err == nil {
			s.planDigest = setstore.Digest(sets.Plan)
			wanted = []setstore.Digest{s.plan.Render, wanted[0]}
		}
	}
	return s, s.read(ctx, l.Store, wanted)
}

// read reads renders, each once.
func (s *stored) read(ctx context.Context, store kept.Store, wanted []setstore.Digest) error {
	for i, d := range wanted {
		if d == "" || i > 0 && d == wanted[0] {
			continue
		}
		r, err := store.Render(ctx, d)
		if err == nil {
			s.renders, s.digests = append(s.renders, r), append(s.digests, d)
		} else if err := ifThere(err); err != nil {
			return err
		}
	}
	return nil
}

// Inventory reads an inventory of the add-on: without it nothing can be pruned or
// uninstalled, so ErrNoInventory is an end to all.
func (l *Looker) Inventory(ctx context.Context, addon string, d setstore.Digest) (kept.Inventory, error) {
	i, err := l.Store.Inventory(ctx, d)
	if setstore.IsLost(err) {
		return nil, fmt.Errorf("add-on %s: %w (%w)", addon, ErrNoInventory, err)
	}
	return i, err
}

// ifThere is err, unless it says that a set is not there: one that is damaged is not, too.
func ifThere(err error) error {
	if setstore.IsLost(err) {
		return nil
	}
	return err
}

// knownDigest is that of the render, if it is kept.
func (l *Looker) knownDigest(a *addons.Addon, before *stored, made source.Rendered) (setstore.Digest, error) {
	if made.Known >= 0 {
		return before.digests[made.Known], nil
	}
	d, err := l.Store.RenderDigest(a.Name, made.Render)
	if err != nil {
		return "", err
	}
	for _, known := range before.digests {
		if known == d {
			return d, nil
		}
	}
	return "", nil
}

// samePlan is the digest of the plan of l, if it is kept as it is.
func (s *stored) samePlan(l *Look) setstore.Digest {
	if s.planDigest != "" && s.plan.Hash == l.Plan.Hash && s.plan.Render == l.RenderDigest && s.plan.Previous == l.Previous {
		return s.planDigest
	}
	return ""
}
