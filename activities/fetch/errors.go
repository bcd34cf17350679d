package fetch

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// Classes of errors.
var (
	// ErrPermanent: only a change of the source, its credentials or the server can help.
	ErrPermanent = errors.New("permanent failure")
	// ErrTemporary: a later retry may help.
	ErrTemporary = errors.New("temporary failure")
)

// classed has a class that its text does not repeat.
type classed struct {
	class error
	error
}

func (c classed) Unwrap() []error { return []error{c.class, c.error} }

// Permanent makes an error as fmt.Errorf does, of the class ErrPermanent.
func Permanent(format string, args ...any) error {
	return classed{ErrPermanent, fmt.Errorf(format, args...)}
}

// Temporary makes an error as fmt.Errorf does, of the class ErrTemporary.
func Temporary(format string, args ...any) error {
	return classed{ErrTemporary, fmt.Errorf(format, args...)}
}

// HasClass says whether an error is permanent or temporary already.
func HasClass(err error) bool {
	return errors.Is(err, ErrTemporary) || errors.Is(err, ErrPermanent)
}

// IsTrouble says whether a status of HTTP tells of trouble that may pass.
func IsTrouble(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusTooEarly || status == http.StatusTooManyRequests || status >= 500
}

// TooLargeError tells that there is more than is read. It is permanent.
type TooLargeError struct {
	// Limit in bytes.
	Limit int64
}

func (e *TooLargeError) Error() string {
	return "it is larger than " + strconv.FormatInt(e.Limit>>20, 10) + " MiB"
}

func (e *TooLargeError) Unwrap() error { return ErrPermanent }

// Copy copies what r has, and fails with a TooLargeError if that is more than limit bytes.
func Copy(w io.Writer, r io.Reader, limit int64) error {
	n, err := io.Copy(w, io.LimitReader(r, limit+1))
	if n > limit {
		return &TooLargeError{Limit: limit}
	}
	return err
}
