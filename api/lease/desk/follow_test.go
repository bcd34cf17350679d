package desk_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/api/lease/desk"
	"example.com/fairlead/api/lease/desk/desktest"
)

func TestWhoFollowsHearsThatAnotherLeads(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*world, func())
		want   error
	}{
		"another URL":                  {func(w *world, _ func()) { w.place.Take("http://other.test") }, desk.ErrMoved},
		"this process":                 {func(w *world, _ func()) { w.place.GiveBack() }, desk.ErrMoved},
		"nobody, as this process ends": {func(_ *world, stop func()) { stop() }, lease.ErrStopped},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.place.Take("http://leader.test")
			stop := desktest.Start(t, w.Desk)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			followed := make(chan error, 1)
			go func() { followed <- w.Follow(ctx, "http://leader.test") }()
			tt.change(w, stop)
			if err := <-followed; !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
	t.Run("and not that nobody is known to", func(t *testing.T) {
		w := newWorld(t) // it does not run, so nobody leads
		ctx, cancel := context.WithTimeout(t.Context(), 1200*time.Millisecond)
		defer cancel()
		if err := w.Follow(ctx, "http://leader.test"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}
