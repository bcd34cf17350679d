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

// What is counted.
const (
	lifecyclesBegun = "lifecycles begun"
	livesBegun      = "lives begun"
	livesEnded      = "lives ended"
	runsRead        = "runs read"
	eventsRead      = "events read"
)

// progress counts what the run has come through.
type progress struct {
	out   io.Writer
	start time.Time

	mu sync.Mutex
	// counts are of what was done, by what it was; thrown of what befell the whole.
	counts, thrown map[string]int
}

func newProgress(out io.Writer) *progress {
	return &progress{out: out, start: time.Now(), counts: map[string]int{}, thrown: map[string]int{}}
}

func (p *progress) count(what string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[what] += n
}

func (p *progress) counted(what string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts[what]
}

// throw notes a blow, or a sweep that has ended.
func (p *progress) throw(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.thrown[what]++
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
	objects, instances := r.observer.sizes()
	starts, crashes := r.worker.counts()
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf("%s; %d objects, %d instances; worker %d starts, %d crashes", table(p.counts), objects, instances, starts, crashes)
}

// summary says what was thrown at the lives.
func (p *progress) summary(o *observer) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	return "faults: " + table(o.faults) + "\nbeside: " + table(p.thrown)
}

func table[K ~string](counts map[K]int) string {
	var words []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		words = append(words, fmt.Sprintf("%s %d", k, counts[k]))
	}
	return strings.Join(words, ", ")
}
