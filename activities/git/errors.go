package git

import (
	"errors"
	"net/http"
	"strings"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"example.com/fairlead/activities/fetch"
)

// Classes of errors. Each error of a Reader has one of them, but for those of the caller's
// own context and of the files of a commit.
var (
	ErrPermanent = fetch.ErrPermanent
	ErrTemporary = fetch.ErrTemporary
)

// NotFoundError tells that a repository can be read and lacks what is asked for.
type NotFoundError struct{ Repo, What string }

func (e *NotFoundError) Error() string { return "repository " + e.Repo + " has no " + e.What }

func (e *NotFoundError) Unwrap() error { return fetch.ErrPermanent }

// TooLargeError tells that a commit has more than a Reader reads.
type TooLargeError = fetch.TooLargeError

// IsDenied says whether the server wants credentials, or others.
func IsDenied(err error) bool {
	return errors.Is(err, transport.ErrAuthenticationRequired) || errors.Is(err, transport.ErrAuthorizationFailed)
}

// remedies are for errors that no retry helps against.
var remedies = []struct {
	of   error
	help string
}{
	{transport.ErrAuthenticationRequired, "look at credentialsSecretRef"},
	{transport.ErrAuthorizationFailed, "these credentials, or their absence, do not let it be read"},
	{transport.ErrRepositoryNotFound, "check its URL, and whether it wants credentials"},
	{transport.ErrEmptyRemoteRepository, "commit something"},
	{gogit.ErrRepositoryNotExists, "check its path"},
}

// classify gives an error of go-git a class, and takes URLs out of it, which may have secrets.
func classify(err error) error {
	var unexpected *plumbing.UnexpectedError
	if errors.As(err, &unexpected) {
		err = unexpected.Err // what it is about cannot be unwrapped
	}
	if err = fetch.Bare(err); err == nil || fetch.HasClass(err) {
		return err
	}
	for _, r := range remedies {
		if errors.Is(err, r.of) {
			return fetch.Permanent("%w: %s", r.of, r.help) // what the server said besides is its own
		}
	}
	if status := statusOf(err); status != 0 {
		class := fetch.Permanent
		if fetch.IsTrouble(status) {
			class = fetch.Temporary
		}
		return class("%d %s: that is no answer of a repository", status, http.StatusText(status))
	}
	if strings.Contains(err.Error(), "http redirect: ") {
		return fetch.Permanent("it redirects where go-git does not follow: use the URL that it leads to")
	}
	return fetch.Temporary("%w", err)
}

// statusOf is the status of an answer that go-git did not expect, or 0.
func statusOf(err error) int {
	var answer *githttp.Err
	if errors.As(err, &answer) {
		return answer.StatusCode()
	}
	return 0
}
