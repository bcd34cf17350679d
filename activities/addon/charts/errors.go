package charts

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"example.com/fairlead/activities/fetch"
)

// Classes of errors. Each error of a Fetcher has one of them, but for those of the
// caller's own context.
var (
	ErrPermanent = fetch.ErrPermanent
	ErrTemporary = fetch.ErrTemporary
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

// at says which URL it was, once.
func at(u *url.URL, err error) error {
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	return &Error{URL: fetch.Shown(u), err: err}
}

// statusError says what to do about an answer that is none.
func statusError(u *url.URL, status int) error {
	return &Error{URL: fetch.Shown(u), Status: status, err: statusProblem(status)}
}

func statusProblem(status int) error {
	text := fmt.Sprintf("%d %s", status, http.StatusText(status))
	switch {
	case status == http.StatusUnauthorized:
		return fetch.Permanent("%s: it wants credentials, or other ones: look at credentialsSecretRef", text)
	case status == http.StatusForbidden:
		return fetch.Permanent("%s: these credentials, or their absence, do not let it be read", text)
	case status == http.StatusNotFound || status == http.StatusGone:
		return fetch.Permanent("%s: check the repository, chart and version", text)
	case fetch.IsTrouble(status):
		return fetch.Temporary("%s: the server is in trouble, a retry may help", text)
	}
	return fetch.Permanent("%s: that is no answer of a chart repository", text)
}
