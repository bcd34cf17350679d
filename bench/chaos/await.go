package main

import (
	"context"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

// wake lets everyone who waits look again. It is called with the lock.
func (o *observer) wake() {
	close(o.changed)
	o.changed = make(chan struct{})
}

// await waits until the object with this UID is as wanted, by what was seen of it.
func (o *observer) await(ctx context.Context, uid string, wanted func(s *subject) bool) error {
	return o.awaitAll(ctx, func() bool {
		s, ok := o.subjects[uid]
		return ok && wanted(s)
	})
}

// awaitCalm waits until at most so many objects have no status yet.
func (o *observer) awaitCalm(ctx context.Context, most int) error {
	return o.awaitAll(ctx, func() bool {
		n := 0
		for _, s := range o.subjects {
			if !s.gone && s.now.Status.Sequence == 0 && s.now.Annotations[crawl.AnnotationPaused] == "" {
				n++
			}
		}
		return n <= most
	})
}

// awaitAll waits until what was seen is as wanted, which is called with the lock.
func (o *observer) awaitAll(ctx context.Context, wanted func() bool) error {
	for {
		o.mu.Lock()
		done, changed := wanted(), o.changed
		o.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changed:
		}
	}
}
