package mask

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Error is err without secrets, in its text and in those that it wraps; shorten is called
// with each text that is left. What err is, as errors.Is and the functions of
// k8s.io/apimachinery/pkg/api/errors tell, it stays.
func (m Mask) Error(err error, shorten func(string) string) error {
	if err == nil {
		return nil
	}
	shown := func(text string) string { return shorten(m.Text(text)) }
	status := apierrors.APIStatus(nil)
	if errors.As(err, &status) {
		return maskedStatus(err, status, shown)
	}
	text := shown(err.Error())
	if text == err.Error() && !m.within(err) {
		return err
	}
	return masked{text: text, err: err}
}

func maskedStatus(err error, status apierrors.APIStatus, shown func(string) string) error {
	original := status.Status()
	s := *original.DeepCopy()
	s.Message = shown(s.Message)
	if s.Details != nil {
		for i := range s.Details.Causes {
			s.Details.Causes[i].Message = shown(s.Details.Causes[i].Message)
		}
	}
	doing := strings.TrimSuffix(err.Error(), original.Message)
	return fmt.Errorf("%s%w", shown(doing), &apierrors.StatusError{ErrStatus: s})
}

// within says whether a secret is in the text of err or of what it wraps, which need not
// be a part of its own.
func (m Mask) within(err error) bool {
	if err == nil {
		return false
	}
	if m.Text(err.Error()) != err.Error() {
		return true
	}
	switch e := err.(type) { //nolint:errorlint // each error of the tree is looked at
	case interface{ Unwrap() error }:
		return m.within(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, wrapped := range e.Unwrap() {
			if m.within(wrapped) {
				return true
			}
		}
	}
	return false
}

// masked is of the classes of err, and never shows it.
type masked struct {
	text string
	err  error
}

func (e masked) Error() string        { return e.text }
func (e masked) Is(target error) bool { return errors.Is(e.err, target) }
