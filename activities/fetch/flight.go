package fetch

import (
	"context"
	"sync"
	"time"
)

// Flights let callers that want the same thing wait for one that gets it. What is
// under way goes on as long as anybody waits for it, whoever asked first.
type Flights[K comparable, V any] struct {
	mu       sync.Mutex
	open     map[K]*flight[V]
	waiting  int
	underway sync.WaitGroup
}

type flight[V any] struct {
	waiting int
	cancel  context.CancelFunc
	done    chan struct{}
	value   V
	err     error
}

// Join returns what get returns, called by this or by another caller. get has at most
// total, and ends for itself once nobody waits for it; a panic of it is an error.
func (f *Flights[K, V]) Join(ctx context.Context, key K, total time.Duration, get func(context.Context) (V, error)) (V, error) {
	shared := f.board(ctx, key, total, get)
	defer f.leave(key, shared)
	select {
	case <-shared.done:
		return shared.value, shared.err
	case <-ctx.Done():
		var none V
		return none, context.Cause(ctx)
	}
}

// Wait returns when all that nobody waits for any more has ended too. Nobody may join
// meanwhile.
func (f *Flights[K, V]) Wait() { f.underway.Wait() }

// Waiting is how many callers wait.
func (f *Flights[K, V]) Waiting() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.waiting
}

func (f *Flights[K, V]) board(ctx context.Context, key K, total time.Duration, get func(context.Context) (V, error)) *flight[V] {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting++
	if shared := f.open[key]; shared != nil {
		shared.waiting++
		return shared
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), total)
	shared := &flight[V]{waiting: 1, cancel: cancel, done: make(chan struct{})}
	if f.open == nil {
		f.open = map[K]*flight[V]{}
	}
	f.open[key] = shared
	shared.err = Permanent("it ended without an answer")
	f.underway.Go(func() {
		defer cancel()
		defer f.land(key, shared)
		shared.value, shared.err = safely(ctx, get)
	})
	return shared
}

// safely makes an error of a panic: what comes from a server must not end the process.
func safely[V any](ctx context.Context, get func(context.Context) (V, error)) (value V, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = Permanent("what came breaks what reads it: %v", broken)
		}
	}()
	return get(ctx)
}

// land lets nobody board any more, so that a later caller sees what is there then.
func (f *Flights[K, V]) land(key K, shared *flight[V]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open[key] == shared {
		delete(f.open, key)
	}
	close(shared.done)
}

// leave ends what nobody waits for any more.
func (f *Flights[K, V]) leave(key K, shared *flight[V]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting--
	if shared.waiting--; shared.waiting > 0 {
		return
	}
	if f.open[key] == shared {
		delete(f.open, key)
	}
	shared.cancel()
}
