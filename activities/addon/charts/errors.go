package charts

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// Classes of errors. Each error of a Fetcher has one of them, but for those of the
// caller's own context.
var (
	// ErrPermanent: only a change of the source, its credentials or the repository
	// can help.
	ErrPermanent = errors.New("permanent failure")
	// ErrTemporary: a later retry may help.
	ErrTemporary = errors.New("temporary failure")
)

// Error is what went wrong with one URL.
type Error struct {
	// URL has no query: it may hold secrets.
	URL string
	// Status is that of HTTP, or 0 when there was none or it was not at fault.
	Status int

	err error
}

func (e *Error) Error() string { return e.URL + ": " + e.err.Error() }

func (e *Error) Unwrap() error { return e.err }

// classed has a class that its text does not repeat.
type classed struct {
	class error
	error
}

func (c classed) Unwrap() []error { return []error{c.class, c.error} }

func permanent(format string, args ...any) error {
	return classed{ErrPermanent, fmt.Errorf(format, args...)}
}

func temporary(format string, args ...any) error {
	return classed{ErrTemporary, fmt.Errorf(format, args...)}
}

// at says which URL it was, once.
func at(u *url.URL, err error) error {
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	return &Error{URL: shown(u), err: err}
}

// statusError says what to do about an answer that is none.
func statusError(u *url.URL, status int) error {
	return &Error{URL: shown(u), Status: status, err: statusProblem(status)}
}

func statusProblem(status int) error {
	text := fmt.Sprintf("%d %s", status, http.StatusText(status))
	switch {
	case status == http.StatusUnauthorized:
		return permanent("%s: it wants credentials, or other ones: look at credentialsSecretRef", text)
	case status == http.StatusForbidden:
		return permanent("%s: these credentials, or their absence, do not let it be read", text)
	case status == http.StatusNotFound || status == http.StatusGone:
		return permanent("%s: check the repository, chart and version", text)
	case status == http.StatusRequestTimeout || status == http.StatusTooEarly || status == http.StatusTooManyRequests || status >= 500:
		return temporary("%s: the server is in trouble, a retry may help", text)
	}
	return permanent("%s: that is no answer of a chart repository", text)
}
