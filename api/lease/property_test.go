package lease_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
)

var (
	seeds = flag.Int("seeds", 16, "how many random lives TestRandomLives leads")
	seed  = flag.Uint64("seed", 0, "the first of them; a failure tells its own")
)

// TestRandomLives does at random what clients, operators, proxies and crashes do, and
// compares after each step all that the engine has indexed and counted with what it holds.
func TestRandomLives(t *testing.T) {
	for n := range uint64(*seeds) {
		if !t.Run(fmt.Sprint("seed ", *seed+n), func(t *testing.T) { newLife(t, *seed+n).lead(400) }) {
			return
		}
	}
}

// life is a world to which random things happen.
type life struct {
	*world
	rand *rand.Rand
	log  []string
	// calls wait; held were granted at some time.
	calls []*call
	held  []lease.Lease
	loads map[string]int
	// selectors is from how many a request chooses.
	selectors int
	spare     []lease.Candidate
	// past are the proxies as they were before, by UID.
	past map[string]lease.Candidate
}

func newLife(t *testing.T, seed uint64) *life {
	l := &life{rand: rand.New(rand.NewPCG(seed, 1)), loads: map[string]int{}, past: map[string]lease.Candidate{}, selectors: 3} // #nosec G404 -- a test that can be repeated
	size := 2 + l.rand.IntN(6)
	if seed%8 == 7 {
		size, l.selectors = 150, 600 // more than are skipped, and more than there may be classes
	}
	var fleet []lease.Candidate
	for n := range size {
		fleet = append(fleet, candidate(fmt.Sprintf("p%02d", n), l.anyShape, version(1)))
	}
	o := lease.Options{Jitter: func() float64 { return 2*l.rand.Float64() - 1 }}
	l.world = newWorldWith(t, o, fleet...)
	return l
}

func (l *life) chance(percent int) bool { return l.rand.IntN(100) < percent }

func oneOf[T any](l *life, all ...T) T { return all[l.rand.IntN(len(all))] }

func (l *life) anyShape(c *lease.Candidate) {
	c.MaxLeases = 1 + l.rand.IntN(3)
	c.LatencyMillis = oneOf[int64](l, 5, 10, 50)
	c.Attributes = map[string]string{"region": oneOf(l, "eu", "us")}
	c.Healthy, c.Draining = !l.chance(15), l.chance(10)
	if l.chance(50) {
		c.Bans = lease.BanLimit{Count: 2, Window: time.Hour}
	}
}

func (l *life) lead(steps int) {
	total := 0
	for _, d := range deeds {
		total += d.often
	}
	for range steps {
		n := l.rand.IntN(total)
		for _, d := range deeds {
			if n -= d.often; n < 0 {
				l.log = append(l.log, d.name)
				d.do(l)
				break
			}
		}
		l.check()
	}
}

func (l *life) check() {
	l.t.Helper()
	wrong := l.Inconsistencies()
	loads := l.Loads()
	for _, c := range l.fleet {
		if n := loads[c.UID]; n > c.MaxLeases && n > l.loads[c.UID] {
			wrong = append(wrong, fmt.Sprintf("%s has %d leases of %d", c.UID, n, c.MaxLeases))
		}
	}
	l.loads = loads
	l.calls = slices.DeleteFunc(l.calls, l.collect)
	if len(wrong) > 0 {
		l.t.Fatalf("after %d steps, the last of which were %q: %s", len(l.log), l.log[max(0, len(l.log)-4):], wrong)
	}
}

// collect takes in what a call that waited has got.
func (l *life) collect(c *call) (done bool) {
	select {
	case <-c.done:
		l.held = append(l.held, c.grant.Leases...)
		return true
	default:
		return false
	}
}
