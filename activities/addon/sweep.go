package addon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon/look"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/internal/text"
	"example.com/fairlead/temporal/conn"
	"example.com/fairlead/temporal/wire"
)

const (
	// lookTimeout bounds the look at one add-on, so that one does not take the time of all.
	lookTimeout = 2 * time.Minute
	// maxProblem bounds the text in a result, in bytes.
	maxProblem = 500
)

// Workflows are those of the Addons.
type Workflows interface {
	// AddonChanged wakes the workflow, and starts it if it does not run.
	AddonChanged(ctx context.Context, ref wire.AddonRef) error
	// AddonRunning asks the workflow itself.
	AddonRunning(ctx context.Context, ref wire.AddonRef) (bool, error)
	// ListAddonsRunning has the ids of all that run, and may be behind.
	ListAddonsRunning(ctx context.Context) (map[string]bool, error)
}

// Looker looks at one add-on and changes nothing.
type Looker interface {
	Look(ctx context.Context, a *addons.Addon) (*look.Look, error)
}

// Sweep has the activity that finds what no event tells of: sources that moved, objects that
// somebody changed, health, and Addons without a workflow. It wakes; what is to be done is
// decided by the workflow of the add-on, which looks for itself.
type Sweep struct {
	// Client has the Addons; it may be a cache.
	Client    client.Reader
	Look      Looker
	Workflows Workflows
	// Parallel is how many add-ons are looked at at the same time.
	Parallel int
	Log      *slog.Logger
}

// SweepAddons looks at all add-ons once. One that cannot be looked at keeps no other from it:
// it is a problem of the result.
func (s *Sweep) SweepAddons(ctx context.Context) (wire.AddonSweepResult, error) {
	_, stop := pulse(ctx)
	defer stop()
	var all addons.AddonList
	if err := s.Client.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		return wire.AddonSweepResult{}, fmt.Errorf("list Addons: %w", err)
	}
	running, err := s.Workflows.ListAddonsRunning(ctx)
	if err != nil {
		return wire.AddonSweepResult{}, err
	}
	var t tally
	var group errgroup.Group
	group.SetLimit(s.Parallel)
	for i := range all.Items {
		a := &all.Items[i]
		if a.Released() {
			continue // others hold it back; our part is done
		}
		group.Go(func() error {
			t.count(s.visit(ctx, a, running[wire.AddonID(addonRef(a))]))
			return nil
		})
	}
	_ = group.Wait() // no visit returns an error
	result := t.result
	result.Addons = len(all.Items)
	if err := t.problem(); err != nil && ctx.Err() == nil {
		result.Problem = text.Head(conn.Scrub(err.Error()), maxProblem, "")
		s.Log.Warn("a sweep could not look at all add-ons; the next one tries again", "error", err)
	}
	return result, ctx.Err()
}

func addonRef(a *addons.Addon) wire.AddonRef { return wire.AddonRef{Name: a.Name, UID: string(a.UID)} }

// visit wakes the workflow of a if there is a reason to. listed says whether it runs, by a
// list that may be behind.
func (s *Sweep) visit(ctx context.Context, a *addons.Addon, listed bool) (started, woken bool, err error) {
	if !listed {
		running, err := s.Workflows.AddonRunning(ctx, addonRef(a))
		if err != nil || running {
			return false, false, err // what has just begun looks for itself
		}
		if err := s.Workflows.AddonChanged(ctx, addonRef(a)); err != nil {
			return false, false, err
		}
		s.Log.Info("an Addon had no workflow: started one", "addon", a.Name)
		return true, false, nil
	}
	if !atRest(a) {
		return false, false, nil
	}
	moved, unseen := s.differs(ctx, a)
	if ctx.Err() != nil || !moved && unseen == nil {
		return false, false, unseen
	}
	if err := s.Workflows.AddonChanged(ctx, addonRef(a)); err != nil {
		return false, false, errors.Join(unseen, err)
	}
	return false, true, unseen
}

// differs says whether a is not as its status says. The error is that of the look.
func (s *Sweep) differs(ctx context.Context, a *addons.Addon) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	seen, err := s.Look.Look(ctx, a.DeepCopy()) // a may be the cache's own
	if err != nil {
		return false, fmt.Errorf("look at add-on %s: %w", a.Name, err)
	}
	return differs(a, seen), nil
}

// tally counts what became of the add-ons.
type tally struct {
	mu     sync.Mutex
	result wire.AddonSweepResult
	first  error
	failed int
}

func (t *tally) count(started, woken bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if started {
		t.result.Started++
	}
	if woken {
		t.result.Woken++
	}
	if err != nil {
		t.failed++
		if t.first == nil {
			t.first = err
		}
	}
}

// problem is the first error, and how many there were.
func (t *tally) problem() error {
	if t.failed > 1 {
		return fmt.Errorf("%d add-ons cannot be looked at, the first: %w", t.failed, t.first)
	}
	return t.first
}
