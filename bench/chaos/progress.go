package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

const progressEvery = 5 * time.Second

// progress counts what the run has come through.
type progress struct {
	lifecycles, lives int
	out               io.Writer
	start             time.Time

	mu     sync.Mutex
	begun  int
	ended  int
	runs   int // of workflows, exported
	events int
	blows  map[blow]int
	sweeps map[string]int
	first  int // first lives that have begun
}

func newProgress(out io.Writer, lifecycles, lives int) *progress {
	return &progress{lifecycles: lifecycles, lives: lives, out: out, start: time.Now(), blows: map[blow]int{}, sweeps: map[string]int{}}
}

func (p *progress) begin(life int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun++
	if life == 0 {
		p.first++
	}
}

// allBegun says whether all lifecycles have begun.
func (p *progress) allBegun() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.first == p.lifecycles
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended++
}

func (p *progress) exported(events int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs++
	p.events += events
}

func (p *progress) struck(b blow) {
	p.mu.Lock()
	p.blows[b]++
	p.mu.Unlock()
	p.printf("%s", b)
}

// swept notes a sweep that has ended.
func (p *progress) swept(workflow string, failed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if failed {
		workflow += " failed"
	}
	p.sweeps[workflow]++
}

func (p *progress) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(p.out, "%5.0fs  %s\n", time.Since(p.start).Seconds(), fmt.Sprintf(format, args...))
}

// print prints a line now and then, until ctx ends.
func (p *progress) print(ctx context.Context, r *run) {
	for linger(ctx, progressEvery) == nil {
		p.printf("%s", p.line(r))
	}
}

func (p *progress) line(r *run) string {
	instances, objects, faults := r.observer.counts()
	starts, crashes := r.worker.counts()
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf("%d of %d lives ended, %d begun; %d objects, %d instances; %d faults; worker %d starts, %d crashes; %d runs, %d events read",
		p.ended, p.lives, p.begun, objects, instances, faults, starts, crashes, p.runs, p.events)
}

// summary says what was thrown at the lives.
func (p *progress) summary(o *observer) string {
	o.mu.Lock()
	faults := table(o.faults)
	o.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	return "faults: " + faults + "\nblows: " + table(p.blows) + "\nsweeps: " + table(p.sweeps)
}

func table[K ~string](counts map[K]int) string {
	var words []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		words = append(words, fmt.Sprintf("%s %d", k, counts[k]))
	}
	return strings.Join(words, ", ")
}

// counts are those of the last looks.
func (o *observer) counts() (instances, objects, faults int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.subjects {
		if !s.gone {
			objects++
		}
	}
	for _, n := range o.faults {
		faults += n
	}
	return len(o.instances), objects, faults
}
