package plan

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/fairlead/activities/addon/manifest"
)

// Rechecks plan objects of one request again. They may be used from several goroutines.
type Rechecks struct {
	Request

	session  *session
	previous map[manifest.ID]Owned
}

// Rechecks reads nothing of the cluster yet.
func (p Planner) Rechecks(r Request) *Rechecks {
	c := &Rechecks{Request: r, session: p.newSession(r), previous: map[manifest.ID]Owned{}}
	for _, o := range r.Previous {
		c.previous[o.ID] = o
	}
	return c
}

// Item plans the object of one item again, just before it is written. Nothing that
// was reviewed has moved if the fresh item has the same Hash; the object is as planned
// already if its Action is Unchanged, which for one to be pruned means that it is gone.
//
// Whether it is blocked is no part of the hash: fresh.Blocked tells.
//
// body is what to apply: it names the object and the resourceVersion that the fresh
// item was made from. It is nil for objects that are not in the set.
func (c *Rechecks) Item(ctx context.Context, planned Item) (fresh Item, body *unstructured.Unstructured, err error) {
	own := *c.session // what is learned of one object is not for others
	if t := own.crowd.first[planned.ID]; t != nil {
		t := *t
		return own.again(ctx, &t, planned)
	}
	if o, ok := c.previous[planned.ID]; ok {
		fresh, err := own.leftAgain(ctx, &leftover{Owned: o})
		return fresh, nil, err
	}
	return Item{ID: planned.ID, Action: Unchanged}, nil, nil
}

func (s *session) again(ctx context.Context, t *target, planned Item) (Item, *unstructured.Unstructured, error) {
	s.targets = []*target{t}
	fail := func(err error) (Item, *unstructured.Unstructured, error) {
		return Item{}, nil, gather(ctx, []manifest.ID{t.id}, []error{err}, s.mask)
	}
	if err := s.locate(ctx, t); err != nil {
		return fail(err)
	}
	if planned.Action == Create && planned.Unverified == "" && t.live == nil {
		// Another dry run would tell no more than the write itself, which comes next.
		return s.creation(Item{ID: t.id, Version: t.GroupVersionKind().Version}, t, t.Object.Object), s.body(t), nil
	}
	var err error
	if s.scaled, err = s.autoscaled(ctx); err != nil {
		return fail(err)
	}
	fresh, err := s.item(ctx, t, "")
	if err != nil {
		return fail(err)
	}
	if planned.Unverified != "" && fresh.Unverified == "" {
		guess := fresh
		guess.Unverified = planned.Unverified
		fresh.Hash = s.itemHash(guess, s.desired(t), nil)
	}
	return fresh, s.body(t), nil
}

func (s *session) leftAgain(ctx context.Context, l *leftover) (Item, error) {
	if err := s.readLeftover(ctx, l); err != nil {
		return Item{}, gather(ctx, []manifest.ID{l.ID}, []error{err}, s.mask)
	}
	s.leftovers = []*leftover{l}
	s.learnSecrets()
	if items := s.prune(); len(items) == 1 {
		return items[0], nil
	}
	return Item{ID: l.ID, Action: Unchanged}, nil
}
