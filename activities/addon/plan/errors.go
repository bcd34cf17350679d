package plan

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/fairlead/activities/addon/manifest"
)

// ErrEmpty is returned for a set without objects while there are objects to prune:
// rather a broken source than a wish.
var ErrEmpty = errors.New("the source renders no object: nothing is pruned; delete the add-on to remove what it has")

// maxErrorText bounds what an object's error says: the API server quotes whole pods.
const maxErrorText = 4 << 10

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
func gather(ctx context.Context, ids []manifest.ID, errs []error, m mask) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("compare with the cluster: %w", err)
	}
	var out Errors
	for i, err := range errs {
		if err != nil {
			out = append(out, &ObjectError{ID: ids[i], Err: masked(err, m)})
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// masked gives err, or what is like it without secrets. Whatever wraps the result
// can be unwrapped to texts that may be stored.
func masked(err error, m mask) error {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return plain(err, m)
	}
	original := status.Status()
	s := *original.DeepCopy()
	s.Message = m.errorText(s.Message)
	if s.Details != nil {
		for i := range s.Details.Causes {
			s.Details.Causes[i].Message = m.errorText(s.Details.Causes[i].Message)
		}
	}
	doing := strings.TrimSuffix(err.Error(), original.Message)
	return fmt.Errorf("%s%w", m.errorText(doing), &apierrors.StatusError{ErrStatus: s})
}

func plain(err error, m mask) error {
	text := m.errorText(err.Error())
	if text == err.Error() {
		return err
	}
	return maskedError{text: text, err: err}
}

// maskedError is of the classes of err, and never shows it.
type maskedError struct {
	text string
	err  error
}

func (e maskedError) Error() string        { return e.text }
func (e maskedError) Is(target error) bool { return errors.Is(e.err, target) }

func cut(text string, most int, note string) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + note
}
