package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/api/kube"
	"example.com/fairlead/bench/internal/dice"
	"example.com/fairlead/bench/internal/history"
)

type options struct {
	// lives with a blow; 0 has one before and one after each write.
	lives int
	// slots are how many lives there are at the same time.
	slots int
	seed  uint64
	// dir is an empty directory for all that is kept, binDir has the programs.
	dir, binDir string
	out         io.Writer
}

// errBroken ends a run whose last line tells of broken promises.
var errBroken = errors.New("a promise was broken")

// run is what the lives of a run share.
type run struct {
	options
	start   time.Time
	log     *slog.Logger
	canary  string
	secrets [][]byte // the canary in its disguises
	stack   *stack
	client  client.WithWatch
	kinds   discovery.DiscoveryInterface
	objects metadata.Interface
	cluster *cluster
	stop    func(error)

	mu     sync.Mutex
	result *result
	fell   map[string]int // kills, by what was written
}

// runAll runs the lives, and ends at the first broken promise.
func runAll(ctx context.Context, o options) (*result, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r := &run{
		options: o, start: time.Now(), log: slog.New(slog.DiscardHandler), canary: fmt.Sprintf("CANARY%016x", o.seed),
		stop: stop, fell: map[string]int{}, result: &result{counts: map[verdict]int{}, steps: map[int]bool{}},
	}
	r.secrets = history.Disguises(r.canary)
	err := r.run(ctx)
	if why := context.Cause(ctx); why != nil {
		err = why // the others follow from it
	}
	if v := new(violation); errors.As(err, &v) {
		err = errBroken // it was told
	}
	r.summarize()
	return r.result, err
}

func (r *run) run(ctx context.Context) (err error) {
	if r.stack, err = startStack(ctx, r.options); err != nil {
		return fmt.Errorf("start the servers: %w", err)
	}
	defer func() { err = errors.Join(err, r.stack.stop()) }()
	if err := r.connect(); err != nil {
		return err
	}
	ctx, end := context.WithCancel(ctx)
	r.cluster = &cluster{client: r.client, stop: r.stop}
	defer r.cluster.work.Wait()
	defer end()
	if err := r.cluster.run(ctx); err != nil {
		return err
	}
	if err := r.play(ctx); err != nil {
		return err
	}
	return r.searchLogs()
}

func (r *run) connect() error {
	scheme, err := kube.Scheme()
	if err != nil {
		return err
	}
	if r.client, err = client.NewWithWatch(r.stack.kube, client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("set up the client of the Kubernetes API: %w", err)
	}
	if r.kinds, err = discovery.NewDiscoveryClientForConfig(r.stack.kube); err != nil {
		return fmt.Errorf("set up the client of the Kubernetes API: %w", err)
	}
	if r.objects, err = metadata.NewForConfig(r.stack.kube); err != nil {
		return fmt.Errorf("set up the client of the Kubernetes API: %w", err)
	}
	return nil
}

// play has one life in peace, to learn what is written in one, and then all others.
func (r *run) play(ctx context.Context) (err error) {
	var slots []*slot
	ctx, end := context.WithCancel(ctx)
	defer func() {
		end()
		for _, s := range slots {
			err = errors.Join(err, s.close())
		}
	}()
	for i := range r.slots {
		s, err := r.openSlot(ctx, i)
		if err != nil {
			return err
		}
		slots = append(slots, s)
	}
	if err := slots[0].play(ctx, 0, blow{}); err != nil {
		return err
	}
	writes := slots[0].gate.taken().writes
	blows := drawBlows(r.seed, len(writes), r.lives)
	r.printf("a life writes %d times; %d lives with a kill in each, %d at a time", len(writes), len(blows), len(slots))
	return r.playAll(ctx, slots, blows)
}

func (r *run) playAll(ctx context.Context, slots []*slot, blows []blow) error {
	next := make(chan int)
	var working sync.WaitGroup
	for _, s := range slots {
		working.Go(func() {
			for i := range next {
				if err := s.play(ctx, i+1, blows[i]); err != nil {
					r.stop(err)
					return
				}
			}
		})
	}
	defer working.Wait()
	defer close(next)
	for i := range blows {
		select {
		case next <- i:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// drawBlows are so many blows, in any order: one before and one after each of the writes,
// and from the beginning if more are wanted. 0 is all of them once.
func drawBlows(seed uint64, writes, n int) (blows []blow) {
	var all []blow
	for i := range writes {
		all = append(all, blow{i + 1, false}, blow{i + 1, true})
	}
	d := dice.New(seed, "blows")
	for i := len(all) - 1; i > 0; i-- {
		j := d.Below(i + 1)
		all[i], all[j] = all[j], all[i]
	}
	if n == 0 {
		return all
	}
	for i := range n {
		blows = append(blows, all[i%len(all)])
	}
	return blows
}

// count takes in how a life went.
func (r *run) count(b blow, t taken) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.lives++
	if t.struck != "" {
		r.result.kills++
		r.result.steps[b.step] = true
		r.fell[t.struck]++
	}
	if r.result.lives%10 == 0 {
		r.printf("%d lives", r.result.lives)
	}
	if t.back > 0 {
		r.result.back = append(r.result.back, t.back)
	}
}

// fail notes a broken promise.
func (r *run) fail(v *violation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.counts[v.verdict]++
	if r.result.counts[v.verdict] == 1 { // one broken promise often breaks others
		r.printf("BROKEN PROMISE, seed %d: %s", r.seed, v)
	}
}

func (r *run) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(r.out, "%6.1fs  %s\n", time.Since(r.start).Seconds(), fmt.Sprintf(format, args...))
}

// summarize prints where the kills fell.
func (r *run) summarize() {
	r.mu.Lock()
	defer r.mu.Unlock()
	var words []string
	for _, what := range slices.Sorted(maps.Keys(r.fell)) {
		words = append(words, fmt.Sprintf("%s %d", what, r.fell[what]))
	}
	if len(words) > 0 {
		r.printf("kills at: %s", strings.Join(words, ", "))
	}
}
