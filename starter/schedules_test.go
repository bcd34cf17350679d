package starter_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	temporalclient "go.temporal.io/sdk/client"

	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/internal/eventually"
	"example.com/fairlead/starter"
	"example.com/fairlead/temporal/wire"
)

// file is a providers file that a test edits.
type file struct {
	mu      sync.Mutex
	names   []string
	changed chan struct{}
}

func aFile(names ...string) *file { return &file{names: names, changed: make(chan struct{}, 1)} }

func (f *file) Names() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.names
}

func (f *file) Changed() <-chan struct{} { return f.changed }

func (f *file) edit(names ...string) {
	f.mu.Lock()
	f.names = names
	f.mu.Unlock()
	f.changed <- struct{}{}
}

// calendar is a Temporal namespace whose Schedules a test looks at.
type calendar struct {
	t *testing.T
	temporalclient.Client
}

func newCalendar(t *testing.T) *calendar {
	t.Helper()
	return &calendar{t, localtest.TemporalClient(t)}
}

// keep runs the part of a starter without add-ons until stop is called.
func (c *calendar) keep(f *file, every time.Duration) (stop func()) {
	return c.start(&starter.Schedules{Providers: f, Every: every})
}

func (c *calendar) start(s *starter.Schedules) (stop func()) {
	s.Temporal, s.Log = c.Client, localtest.Quiet()
	ctx, cancel := context.WithCancel(c.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Start(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			c.t.Errorf("it ended with %v", err)
		}
	}
}

func (c *calendar) handle(id string) temporalclient.ScheduleHandle {
	return c.ScheduleClient().GetHandle(c.t.Context(), id)
}

// describe returns nil for a Schedule that is not there.
func (c *calendar) describe(id string) *temporalclient.ScheduleDescription {
	c.t.Helper()
	d, err := c.handle(id).Describe(c.t.Context())
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) {
		return nil
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return d
}

func (c *calendar) there(ids ...string) {
	c.t.Helper()
	for _, id := range ids {
		eventually.Until(c.t, id+" is there", func() bool { return c.describe(id) != nil })
	}
}

// make makes a Schedule as somebody else would.
func (c *calendar) make(id string) {
	c.t.Helper()
	_, err := c.ScheduleClient().Create(c.t.Context(), temporalclient.ScheduleOptions{
		ID: id, Action: &temporalclient.ScheduleWorkflowAction{ID: id, Workflow: "Other", TaskQueue: "other"},
		Spec: temporalclient.ScheduleSpec{Intervals: []temporalclient.ScheduleIntervalSpec{{Every: time.Hour}}},
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

func TestSchedulesAreMade(t *testing.T) {
	c := newCalendar(t)
	stop := c.keep(aFile("kvm", "gcp"), time.Minute)
	defer stop()
	c.there("sweep/kvm", "sweep/gcp", "sweep/objects")
	offsets := map[time.Duration]bool{}
	for _, id := range []string{"sweep/kvm", "sweep/gcp", "sweep/objects"} {
		d := c.describe(id)
		spec := d.Schedule.Spec.Intervals
		if len(spec) != 1 || spec[0].Every != time.Minute || spec[0].Offset < 0 || spec[0].Offset >= time.Minute {
			t.Errorf("%s: intervals %+v", id, spec)
		}
		offsets[spec[0].Offset] = true
		want := temporalclient.SchedulePolicies{Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP, CatchupWindow: time.Minute}
		if diff := cmp.Diff(want, *d.Schedule.Policy); diff != "" {
			t.Errorf("%s: policies (-want +got):\n%s", id, diff)
		}
		a := d.Schedule.Action.(*temporalclient.ScheduleWorkflowAction)
		workflow := map[bool]string{true: wire.WorkflowObjectSweep, false: wire.WorkflowSweep}[id == "sweep/objects"]
		if a.ID != id || a.TaskQueue != wire.QueueMain || a.Workflow != workflow || a.WorkflowRunTimeout <= 0 {
			t.Errorf("%s: action %+v", id, a)
		}
		eventually.Until(t, id+" runs at once", func() bool { return c.describe(id).Info.NumActions > 0 })
	}
	if len(offsets) < 2 {
		t.Error("they all fire at the same time")
	}
}

func TestSchedulesFollowTheFile(t *testing.T) {
	c := newCalendar(t)
	c.make("sweep/of-somebody-else")
	c.make("other")
	f := aFile("kvm", "gcp")
	stop := c.keep(f, time.Minute)
	c.there("sweep/kvm", "sweep/gcp", "sweep/objects")

	t.Run("one whose provider left goes, others' stay", func(t *testing.T) {
		f.edit("kvm", "new")
		c.there("sweep/new")
		eventually.Until(t, "sweep/gcp goes", func() bool { return c.describe("sweep/gcp") == nil })
		c.there("sweep/kvm", "sweep/objects", "sweep/of-somebody-else", "other")
	})
	t.Run("one that comes back is made again", func(t *testing.T) {
		f.edit("kvm", "new", "gcp")
		c.there("sweep/gcp")
	})
	t.Run("somebody else's is not taken over, and holds up nobody", func(t *testing.T) {
		f.edit("kvm", "of-somebody-else", "zoo")
		c.there("sweep/zoo")
		eventually.Until(t, "sweep/gcp goes", func() bool { return c.describe("sweep/gcp") == nil })
		if a := c.describe("sweep/of-somebody-else").Schedule.Action.(*temporalclient.ScheduleWorkflowAction); a.Workflow != "Other" {
			t.Errorf("it starts %v now", a.Workflow)
		}
	})
	stop()

	t.Run("a restart changes nothing that is right, and mends the rest", func(t *testing.T) {
		before := c.describe("sweep/zoo")
		if err := c.handle("sweep/kvm").Delete(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer c.keep(aFile("kvm", "zoo"), time.Minute)()
		c.there("sweep/kvm")
		eventually.Until(t, "sweep/new goes", func() bool { return c.describe("sweep/new") == nil }) // the last thing that is done
		if after := c.describe("sweep/zoo"); !after.Info.LastUpdateAt.Equal(before.Info.LastUpdateAt) {
			t.Errorf("sweep/zoo was updated at %s", after.Info.LastUpdateAt)
		}
	})
	t.Run("another interval updates, and a pause stays", func(t *testing.T) {
		if err := c.handle("sweep/zoo").Pause(t.Context(), temporalclient.SchedulePauseOptions{Note: "a person's"}); err != nil {
			t.Fatal(err)
		}
		defer c.keep(aFile("kvm", "zoo"), 5*time.Minute)()
		eventually.Until(t, "sweep/zoo is every 5 min", func() bool { return c.describe("sweep/zoo").Schedule.Spec.Intervals[0].Every == 5*time.Minute })
		if s := c.describe("sweep/zoo").Schedule.State; !s.Paused || s.Note != "a person's" {
			t.Errorf("its state is %+v", s)
		}
		if every := c.describe("sweep/objects").Schedule.Spec.Intervals[0].Every; every != time.Minute {
			t.Errorf("objects are swept every %s", every)
		}
	})
}

func TestAStarterOfAddOnsAndOneOfProxiesKeepTheirOwnSchedules(t *testing.T) {
	c := newCalendar(t)
	stop := c.start(&starter.Schedules{AddonsEvery: 5 * time.Minute})
	c.there("sweep/addons")
	stop()
	d := c.describe("sweep/addons")
	a := d.Schedule.Action.(*temporalclient.ScheduleWorkflowAction)
	if a.TaskQueue != wire.QueueAddons || a.Workflow != wire.WorkflowAddonSweep || d.Schedule.Spec.Intervals[0].Every != 5*time.Minute {
		t.Errorf("every %s it runs %v on %s", d.Schedule.Spec.Intervals[0].Every, a.Workflow, a.TaskQueue)
	}
	if c.describe("sweep/objects") != nil {
		t.Error("a starter of add-ons keeps sweep/objects")
	}

	stop = c.keep(aFile("kvm", "old"), time.Minute)
	c.there("sweep/objects", "sweep/kvm", "sweep/old")
	stop()
	stop = c.keep(aFile("kvm"), time.Minute)
	eventually.Until(t, "sweep/old goes", func() bool { return c.describe("sweep/old") == nil }) // the last thing that is done
	stop()
	c.there("sweep/addons")

	if err := c.handle("sweep/addons").Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop = c.start(&starter.Schedules{AddonsEvery: time.Hour})
	c.there("sweep/addons")
	stop()
	c.there("sweep/objects", "sweep/kvm")

	defer c.start(&starter.Schedules{Providers: aFile("kvm"), Every: time.Minute, AddonsEvery: time.Hour})()
	c.there("sweep/addons", "sweep/objects", "sweep/kvm")
}

// TestSchedulesAreKeptAgainstEdits edits each part by hand.
func TestSchedulesAreKeptAgainstEdits(t *testing.T) {
	c := newCalendar(t)
	edits := map[string]func(*temporalclient.Schedule, *temporalclient.ScheduleWorkflowAction){
		"interval": func(s *temporalclient.Schedule, _ *temporalclient.ScheduleWorkflowAction) {
			s.Spec.Intervals = []temporalclient.ScheduleIntervalSpec{{Every: time.Hour}}
		},
		"policy": func(s *temporalclient.Schedule, _ *temporalclient.ScheduleWorkflowAction) {
			s.Policy.CatchupWindow = time.Hour
		},
		"queue":   func(_ *temporalclient.Schedule, a *temporalclient.ScheduleWorkflowAction) { a.TaskQueue = "other" },
		"timeout": func(_ *temporalclient.Schedule, a *temporalclient.ScheduleWorkflowAction) { a.WorkflowRunTimeout = 0 },
		"input": func(_ *temporalclient.Schedule, a *temporalclient.ScheduleWorkflowAction) {
			a.Args = []any{wire.SweepInput{Provider: "other"}}
		},
	}
	stop := c.keep(aFile("kvm"), time.Minute)
	c.there("sweep/kvm")
	stop()
	want := shown(c.describe("sweep/kvm"))
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			err := c.handle("sweep/kvm").Update(t.Context(), temporalclient.ScheduleUpdateOptions{
				DoUpdate: func(in temporalclient.ScheduleUpdateInput) (*temporalclient.ScheduleUpdate, error) {
					s := in.Description.Schedule
					edit(&s, s.Action.(*temporalclient.ScheduleWorkflowAction))
					return &temporalclient.ScheduleUpdate{Schedule: &s}, nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			eventually.Until(t, "it is edited", func() bool { return shown(c.describe("sweep/kvm")) != want })
			defer c.keep(aFile("kvm"), time.Minute)()
			eventually.Until(t, "it is mended", func() bool { return shown(c.describe("sweep/kvm")) == want })
		})
	}
}

func shown(d *temporalclient.ScheduleDescription) string {
	a := d.Schedule.Action.(*temporalclient.ScheduleWorkflowAction)
	return fmt.Sprint(d.Schedule.Spec.Intervals, *d.Schedule.Policy, a.ID, a.Workflow, a.TaskQueue, a.WorkflowRunTimeout, a.StaticSummary, a.Args)
}
