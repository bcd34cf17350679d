package plan

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/internal/text"
)

// ErrEmpty is returned for a set without objects while there are objects to prune:
// rather a broken source than a wish.
var ErrEmpty = errors.New("the source renders no object: nothing is pruned; delete the add-on to remove what it has")

// ErrStale is that of an object whose kind is served in a moment.
var ErrStale = errors.New("the cluster has its CustomResourceDefinition, and does not serve its kind yet: look at the APIs again")

// ObjectError says why one object cannot be planned. No secret is in its text, nor in
// those that it wraps.
type ObjectError struct {
	ID  manifest.ID
	Err error
}

func (e *ObjectError) Error() string { return e.ID.String() + ": " + e.Err.Error() }

func (e *ObjectError) Unwrap() error { return e.Err }

// Errors are all objects that cannot be planned.
type Errors []*ObjectError

func (e Errors) Error() string {
	texts := make([]string, len(e))
	for i, one := range e {
		texts[i] = one.Error()
	}
	return fmt.Sprintf("%d objects cannot be planned: %s", len(e), strings.Join(texts, "; "))
}

// Unwrap gives each of them.
func (e Errors) Unwrap() []error {
	out := make([]error, len(e))
	for i, one := range e {
		out[i] = one
	}
	return out
}

// gather makes one error of those in errs, which are in the order of ids. The end of
// ctx is no object's fault.
func gather(ctx context.Context, ids []manifest.ID, errs []error, m masker) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("compare with the cluster: %w", err)
	}
	var out Errors
	for i, err := range errs {
		if err != nil {
			out = append(out, &ObjectError{ID: ids[i], Err: m.Error(err, shortError)})
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// shortError bounds what an object's error says: the API server quotes whole pods.
func shortError(s string) string { return text.Head(s, 4<<10, "… (cut)") }
