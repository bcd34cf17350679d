package starter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"time"

	"go.temporal.io/api/serviceerror"
	temporalclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"example.com/fairlead/temporal/wire"
)

const (
	// checkEvery is how often the Schedules are compared without a reason: somebody
	// may have edited or deleted one by hand.
	checkEvery = 10 * time.Minute

	firstRetry = time.Second
	lastRetry  = time.Minute
)

// memoKeeper marks the Schedules that are ours to change and to delete.
const (
	memoKeeper = "keeper"
	keeper     = "fairlead"
)

// Providers are the names in the providers file.
type Providers interface {
	Names() []string
	Changed() <-chan struct{}
}

// Schedules keeps the Schedules of the sweeps: those that the providers file says, and
// that of the add-ons. It runs in the leader only.
type Schedules struct {
	Temporal temporalclient.Client
	// Providers is nil for no sweeps of Proxies.
	Providers Providers
	// Every is the time between two sweeps of one provider.
	Every time.Duration
	// AddonsEvery is the time between two sweeps of the add-ons; 0 for none.
	AddonsEvery time.Duration
	Log         *slog.Logger

	// made are those that this process made or found: the list may be behind.
	made map[string]bool
}

// NeedLeaderElection makes the manager start it in one replica only.
func (s *Schedules) NeedLeaderElection() bool { return true }

// Start keeps the Schedules until ctx ends.
func (s *Schedules) Start(ctx context.Context) error {
	var changed <-chan struct{}
	if s.Providers != nil {
		changed = s.Providers.Changed()
	}
	pause := firstRetry
	for {
		again := checkEvery
		if err := s.sync(ctx); err == nil {
			pause = firstRetry
		} else if ctx.Err() == nil {
			again, pause = pause, min(2*pause, lastRetry)
			s.Log.Warn("the Schedules of the sweeps are not all as they should be, trying again", "in", again, "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
			pause = firstRetry
		case <-time.After(again):
		}
	}
}

// sync creates, updates and deletes what differs. One that fails does not keep the
// others from being done.
func (s *Schedules) sync(ctx context.Context) error {
	if s.made == nil {
		s.made = map[string]bool{}
	}
	wanted := map[string]bool{}
	var problems []error
	for _, o := range s.wanted() {
		wanted[o.ID] = true
		if err := s.ensure(ctx, o); err != nil {
			problems = append(problems, fmt.Errorf("keep Schedule %s: %w", o.ID, err))
			continue
		}
		s.made[o.ID] = true
	}
	return errors.Join(append(problems, s.deleteOthers(ctx, wanted))...)
}

// ensure makes one Schedule what it should be. A pause and its note stay.
func (s *Schedules) ensure(ctx context.Context, o temporalclient.ScheduleOptions) error {
	client := s.Temporal.ScheduleClient()
	updated := false
	err := client.GetHandle(ctx, o.ID).Update(ctx, temporalclient.ScheduleUpdateOptions{
		DoUpdate: func(in temporalclient.ScheduleUpdateInput) (*temporalclient.ScheduleUpdate, error) {
			if !kept(in.Description.Memo) {
				return nil, errors.New("somebody else made it: delete it, or use another Temporal namespace (--temporal-namespace)")
			}
			is := in.Description.Schedule
			if sameSchedule(is, o) {
				return nil, temporal.ErrSkipScheduleUpdate
			}
			updated = true
			return &temporalclient.ScheduleUpdate{Schedule: &temporalclient.Schedule{
				Action: o.Action, Spec: &o.Spec, State: is.State,
				Policy: &temporalclient.SchedulePolicies{Overlap: o.Overlap, CatchupWindow: o.CatchupWindow},
			}}, nil
		},
	})
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) {
		if _, err = client.Create(ctx, o); err == nil {
			s.Log.Info("created a Schedule", "schedule", o.ID)
		}
		return err
	}
	if err == nil && updated {
		s.Log.Info("updated a Schedule", "schedule", o.ID)
	}
	return err
}

// deleteOthers deletes our Schedules that are not wanted any more.
func (s *Schedules) deleteOthers(ctx context.Context, wanted map[string]bool) error {
	ours, err := s.list(ctx)
	maps.Copy(ours, s.made)
	problems := []error{err}
	for id := range ours {
		if wanted[id] {
			continue
		}
		err := s.Temporal.ScheduleClient().GetHandle(ctx, id).Delete(ctx)
		var notFound *serviceerror.NotFound
		if err != nil && !errors.As(err, &notFound) {
			problems = append(problems, fmt.Errorf("delete Schedule %s: %w", id, err))
			continue
		}
		delete(s.made, id)
		if err == nil {
			s.Log.Info("deleted a Schedule: its provider left the providers file", "schedule", id)
		}
	}
	return errors.Join(problems...)
}

// list has the ids of the Schedules with our mark that concern this starter, as far as it
// got.
func (s *Schedules) list(ctx context.Context) (map[string]bool, error) {
	ours := map[string]bool{}
	all, err := s.Temporal.ScheduleClient().List(ctx, temporalclient.ScheduleListOptions{})
	if err != nil {
		return ours, fmt.Errorf("list Schedules: %w", err)
	}
	for all.HasNext() {
		e, err := all.Next()
		if err != nil {
			return ours, fmt.Errorf("list Schedules: %w", err)
		}
		if strings.HasPrefix(e.ID, wire.SweepPrefix) && s.concerns(e.ID) && kept(e.Memo) {
			ours[e.ID] = true
		}
	}
	return ours, nil
}
