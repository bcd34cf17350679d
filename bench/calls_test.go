package bench

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"example.com/fairlead/activities/provider"
)

// calls are those that reached providers.
type calls struct {
	mu      sync.Mutex
	created map[string]time.Time // by UID of the object: the first Create
	counts  map[string]int       // by method
}

func newCalls() *calls { return &calls{created: map[string]time.Time{}, counts: map[string]int{}} }

func (c *calls) count(method string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[method]++
}

// create notes when the Create for an object was called.
func (c *calls) create(uid string) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts["Create"]++
	if _, ok := c.created[uid]; !ok {
		c.created[uid] = now
	}
}

func (c *calls) createdAt(uid string) (at time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok = c.created[uid]
	return at, ok
}

// of is how often a method was called.
func (c *calls) of(method string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[method]
}

// recorded makes inner's providers tell c of their calls.
func recorded(inner provider.Builder, c *calls) provider.Builder {
	return func(name string, settings json.RawMessage) (provider.Provider, error) {
		p, err := inner(name, settings)
		if err != nil {
			return nil, err
		}
		return &recorder{Provider: p, calls: c}, nil
	}
}

// recorder is a provider whose calls are noted.
type recorder struct {
	provider.Provider
	calls *calls
}

func (r *recorder) Create(ctx context.Context, req provider.Request) (provider.Instance, error) {
	r.calls.create(req.Owner.UID)
	return r.Provider.Create(ctx, req)
}

func (r *recorder) Get(ctx context.Context, id provider.ID) (provider.Instance, error) {
	r.calls.count("Get")
	return r.Provider.Get(ctx, id)
}

func (r *recorder) Delete(ctx context.Context, id provider.ID) error {
	r.calls.count("Delete")
	return r.Provider.Delete(ctx, id)
}

func (r *recorder) List(ctx context.Context) (provider.Listing, error) {
	r.calls.count("List")
	return r.Provider.List(ctx)
}

func (r *recorder) Check(ctx context.Context) []provider.TargetStatus {
	r.calls.count("Check")
	return r.Provider.Check(ctx)
}
