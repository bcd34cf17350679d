package sweep

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"example.com/fairlead/internal/text"
	"example.com/fairlead/temporal/wire"
)

// atATime is how many calls may be under way.
const atATime = 8

// each calls do for every ref, a few at a time, and goes on after a failure. done
// counts what succeeded; err has the first failure and their number.
func each(ctx context.Context, refs []wire.ProxyRef, do func(context.Context, wire.ProxyRef) error) (done int, err error) {
	var mu sync.Mutex
	var first error
	var group errgroup.Group
	group.SetLimit(atATime)
	for _, ref := range refs {
		group.Go(func() error {
			err := do(ctx, ref)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				done++
			} else if first == nil {
				first = err
			}
			return nil
		})
	}
	_ = group.Wait() // no call returns an error
	if first != nil {
		return done, fmt.Errorf("%d of %d failed, the first: %w", len(refs)-done, len(refs), first)
	}
	return done, nil
}

// cut makes a text at most size bytes long.
func cut(s string, size int) string {
	return strings.ToValidUTF8(text.Head(s, size, ""), "")
}
