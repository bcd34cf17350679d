package lease

import (
	"container/heap"
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// moment is a time on the engine's clock: how long leases have been served in all. It
// stands still while nobody serves, and no step of the wall clock reaches it.
type moment = time.Duration

const (
	// never is before any moment, and -never after.
	never moment = math.MinInt64 / 2
	// saveEvery is how often the moment is kept when nothing else is: what a crash may
	// prolong a lease by.
	saveEvery = 5 * time.Second
	// firstSave is when it is first: later ones come after twice the time, so that a process
	// that dies again and again gets on all the same.
	firstSave = 100 * time.Millisecond
	// heldEvery is how often the journal is asked whether it was taken over: those who wait
	// must be told soon.
	heldEvery = time.Second
)

// now stands still until the fleet is known: nobody can be served before.
func (e *Engine) now() moment {
	if !e.synced {
		return e.base
	}
	return e.base + e.Clock.Since(e.started)
}

// wall is the wall clock's time of m, if the clock goes on as it does.
func (e *Engine) wall(m moment) time.Time { return e.Clock.Now().Add(m - e.now()) }

func (e *Engine) timeChange() Change {
	return Change{Kind: kindTime, Value: binary.BigEndian.AppendUint64(nil, uint64(e.now()))} // #nosec G115 -- not negative
}

func (e *Engine) loadTime(value []byte) error {
	if len(value) != 8 {
		return fmt.Errorf("engine time has %d bytes, not 8", len(value))
	}
	e.base = moment(binary.BigEndian.Uint64(value)) // #nosec G115 -- it was written from one
	if e.base < 0 || e.base > -never {
		return fmt.Errorf("engine time is %d: nobody has served for so long", e.base)
	}
	return nil
}

// alarm makes something happen at a moment.
type alarm struct {
	at moment
	// rings is told when the moment has come.
	rings ringer
	// index in the heap, plus one; 0 when it is not set.
	index int
}

type ringer interface {
	ring(e *Engine, now moment)
}

// alarms is a heap with the next one first.
type alarms []*alarm

func (a alarms) Len() int           { return len(a) }
func (a alarms) Less(i, j int) bool { return a[i].at < a[j].at }

func (a alarms) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].index, a[j].index = i+1, j+1
}

// Push implements heap.Interface.
func (a *alarms) Push(x any) {
	al, _ := x.(*alarm)
	*a = append(*a, al)
	al.index = len(*a)
}

// Pop implements heap.Interface.
func (a *alarms) Pop() any {
	old := *a
	al := old[len(old)-1]
	old[len(old)-1] = nil
	*a = old[:len(old)-1]
	al.index = 0
	return al
}

// set has a ring at a moment, and no more at the one it was set for.
func (e *Engine) set(a *alarm, at moment) {
	a.at = at
	if a.index == 0 {
		heap.Push(&e.alarms, a)
	} else {
		heap.Fix(&e.alarms, a.index-1)
	}
	if e.alarms[0] != a {
		return
	}
	select {
	case e.wake <- struct{}{}:
	default: // it looks already
	}
}

func (e *Engine) unset(a *alarm) {
	if a.index > 0 {
		heap.Remove(&e.alarms, a.index-1)
	}
}

// settle lets the past happen: it rings whatever is due.
func (e *Engine) settle() moment {
	now := e.now()
	for e.err == nil && len(e.alarms) > 0 && e.alarms[0].at <= now {
		a := e.alarms[0]
		heap.Pop(&e.alarms)
		a.rings.ring(e, now)
	}
	return now
}

// keepTime settles at each alarm, until the engine stops.
func (e *Engine) keepTime() {
	for {
		lost := e.journal.Held()
		e.mu.Lock()
		if lost != nil {
			e.stop(lost)
		}
		now := e.settle()
		next := now + heldEvery
		if len(e.alarms) > 0 && e.synced {
			next = min(next, e.alarms[0].at)
		}
		e.unlock()
		timer := e.Clock.NewTimer(next - now)
		select {
		case <-timer.C():
		case <-e.wake:
		case <-e.ended:
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// saving keeps the moment now and then.
type saving struct {
	alarm alarm
	after time.Duration
}

func (s *saving) begin(e *Engine) {
	s.after, s.alarm.rings = firstSave, s
	e.set(&s.alarm, e.now()+s.after)
}

func (s *saving) ring(e *Engine, now moment) {
	e.change(e.timeChange())
	s.after = min(2*s.after, saveEvery)
	e.set(&s.alarm, now+s.after)
}
