package charts

import (
	"context"
	"sync"
	"time"
)

// flights let callers that want the same thing wait for one that gets it. What is
// under way goes on as long as anybody waits for it, whoever asked first.
type flights[K comparable, V any] struct {
	mu   sync.Mutex
	open map[K]*flight[V]
}

type flight[V any] struct {
	waiting int
	cancel  context.CancelFunc
	done    chan struct{}
	value   V
	err     error
}

// join returns what get returns, called by this or by another caller. get has at most
// total.
func (f *flights[K, V]) join(ctx context.Context, key K, total time.Duration, get func(context.Context) (V, error)) (V, error) {
	shared := f.board(ctx, key, total, get)
	select {
	case <-shared.done:
		f.leave(key, shared)
		return shared.value, shared.err
	case <-ctx.Done():
		f.leave(key, shared)
		var none V
		return none, context.Cause(ctx)
	}
}

func (f *flights[K, V]) board(ctx context.Context, key K, total time.Duration, get func(context.Context) (V, error)) *flight[V] {
	f.mu.Lock()
	defer f.mu.Unlock()
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
	go func() {
		defer cancel()
		shared.value, shared.err = get(ctx)
		f.land(key, shared)
	}()
	return shared
}

// land lets nobody board any more, so that a later caller sees what is there then.
func (f *flights[K, V]) land(key K, shared *flight[V]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open[key] == shared {
		delete(f.open, key)
	}
	close(shared.done)
}

// leave ends what nobody waits for any more, and waits until it has ended: its
// temporary file is gone when the last caller returns.
func (f *flights[K, V]) leave(key K, shared *flight[V]) {
	f.mu.Lock()
	shared.waiting--
	last := shared.waiting == 0
	if last && f.open[key] == shared {
		delete(f.open, key)
	}
	f.mu.Unlock()
	if last {
		shared.cancel()
		<-shared.done
	}
}
