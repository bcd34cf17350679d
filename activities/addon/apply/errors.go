package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/plan"
)

// MovedError says what is not any more as it was when the plan was reviewed. None of these
// was written.
type MovedError struct {
	// Items as they would be planned now, by ID.
	Items   []plan.Item
	planned []plan.Item
}

func (e *MovedError) Error() string {
	texts := make([]string, len(e.Items))
	for i, now := range e.Items {
		texts[i] = difference(e.planned[i], now)
	}
	return "the cluster has moved since the plan was made, review it again: " + strings.Join(texts, "; ")
}

func difference(was, now plan.Item) string {
	switch {
	case was.UID != now.UID && was.UID != "" && now.UID != "":
		return now.ID.String() + " was deleted and made again"
	case was.Action != now.Action:
		return fmt.Sprintf("%s is to be %s now, not %s", now.ID, done(now.Action), done(was.Action))
	}
	return now.ID.String() + " has other values in the fields that would change"
}

// done are actions as what is done to an object.
func done(a plan.Action) string {
	switch a {
	case plan.Keep:
		return "kept"
	case plan.Unchanged:
		return "left unchanged"
	}
	return strings.TrimSuffix(string(a), "e") + "ed"
}

// moved is of one object.
type moved struct{ planned, fresh plan.Item }

func (m *moved) Error() string { return difference(m.planned, m.fresh) }

// failures are what went wrong with objects.
type failures struct {
	moved []*moved
	other plan.Errors
}

func (f *failures) add(id manifest.ID, err error) {
	var m *moved
	var one *plan.ObjectError
	var several plan.Errors
	switch {
	case errors.As(err, &m):
		f.moved = append(f.moved, m)
	case errors.As(err, &several):
		f.other = append(f.other, several...)
	case errors.As(err, &one):
		f.other = append(f.other, one)
	default:
		f.other = append(f.other, &plan.ObjectError{ID: id, Err: err})
	}
}

func (f *failures) err(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("apply: %w", err)
	}
	slices.SortFunc(f.moved, func(a, b *moved) int { return cmp.Compare(a.fresh.ID.String(), b.fresh.ID.String()) })
	slices.SortFunc(f.other, func(a, b *plan.ObjectError) int { return cmp.Compare(a.ID.String(), b.ID.String()) })
	var all []error
	if len(f.moved) > 0 {
		e := &MovedError{}
		for _, m := range f.moved {
			e.Items, e.planned = append(e.Items, m.fresh), append(e.planned, m.planned)
		}
		all = append(all, e)
	}
	if len(f.other) > 0 {
		all = append(all, f.other)
	}
	return errors.Join(all...)
}
