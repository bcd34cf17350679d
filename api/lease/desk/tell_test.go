package desk_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/api/lease/desk/desktest"
	"example.com/fairlead/internal/eventually"
)

func limited(c *lease.Candidate) { c.Bans = lease.BanLimit{Count: 1, Window: time.Hour} }

func TestNoticesAreTold(t *testing.T) {
	w := newWorld(t)
	w.Put(candidate("a", limited))
	w.Synced()
	desktest.Run(t, w.Desk)
	l := acquire(t, w.Desk, lease.Request{})
	if err := mustEngine(t, w.Desk).Report(t.Context(), l.ID, everybody, lease.Report{Result: lease.ResultBanned}); err != nil {
		t.Fatal(err)
	}
	w.told.comes(t, "crawl/a banned=true")
	w.Put(candidate("a", limited, draining))
	if err := mustEngine(t, w.Desk).Release(t.Context(), l.ID, everybody); err != nil {
		t.Fatal(err)
	}
	w.told.comes(t, "crawl/a banned=true", "crawl/a banned=false")
}

func TestWhatCouldNotBeToldIsToldAgain(t *testing.T) {
	w := newWorld(t)
	w.told.failing(errors.New("Temporal is away"))
	w.Put(candidate("a", limited))
	w.Put(candidate("deleted", limited))
	w.Synced()
	desktest.Run(t, w.Desk)
	for range 2 {
		l := acquire(t, w.Desk, lease.Request{})
		if err := mustEngine(t, w.Desk).Report(t.Context(), l.ID, everybody, lease.Report{Result: lease.ResultBanned}); err != nil {
			t.Fatal(err)
		}
	}
	tried := w.told.tried()
	eventually.Until(t, "they are tried again", func() bool { return w.told.tried() >= tried+2 })
	if n := strings.Count(w.log.String(), "Temporal is away"); n != 1 {
		t.Errorf("the same failure is logged %d times:\n%s", n, w.log)
	}
	w.Remove("uid-deleted")
	w.told.failing(nil)
	w.told.comes(t, "crawl/a banned=true")
}
