package git

import (
	"errors"
	"net/url"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing/transport"
)

// NotFoundError tells that a repository can be read and lacks what is asked for.
type NotFoundError struct{ Repo, What string }

func (e *NotFoundError) Error() string { return "repository " + e.Repo + " has no " + e.What }

// TooLargeError tells that a commit has more than a Reader fetches.
type TooLargeError struct {
	// Limit in bytes.
	Limit int64
}

func (e *TooLargeError) Error() string {
	return "its pack is larger than " + strconv.FormatInt(e.Limit>>20, 10) + " MiB" + ": keep what is applied in a repository of its own"
}

// IsDenied says whether the server wants credentials, or others.
func IsDenied(err error) bool {
	return errors.Is(err, transport.ErrAuthenticationRequired) || errors.Is(err, transport.ErrAuthorizationFailed)
}

// withoutURL is err without the URL that could not be read, which may have a password in it.
func withoutURL(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
