package charts

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"time"
)

const maxRedirects = 10

var errSilent = errors.New("the server sent nothing for too long")

// session sends requests with credentials that stay where they belong, and gives up
// on servers that fall silent.
type session struct {
	client *http.Client
	// home is the origin that may see authorization.
	home          origin
	creds         Credentials
	authorization string
	silence       time.Duration
}

// redirect takes the credentials away at the first step to another origin, for good:
// that origin could send us back with a path of its own choice. net/http alone keeps
// them for subdomains and other ports.
func (s *session) redirect(req *http.Request, via []*http.Request) error {
	if len(via) >= maxRedirects {
		return permanent("it redirects more than %d times", maxRedirects)
	}
	if via[len(via)-1].URL.Scheme == schemeHTTPS && req.URL.Scheme != schemeHTTPS {
		return permanent("it redirects from https to %s: use a repository that does not", req.URL.Scheme)
	}
	if err := checkURL(req.URL); err != nil {
		return err
	}
	for _, step := range append(via[1:len(via):len(via)], req) {
		if originOf(step.URL) != s.home {
			req.Header.Del("Authorization")
			req.Header.Del("Referer") // the query of the page before may be secret too
		}
	}
	return nil
}

// get asks for one URL. Statuses from 400 on are errors.
func (s *session) get(ctx context.Context, u *url.URL, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, at(u, permanent("it is no URL to ask for"))
	}
	maps.Copy(req.Header, header)
	resp, err := s.send(req)
	if err != nil {
		return nil, err
	}
	return orStatus(resp)
}

// orStatus makes an error of an answer with a status from 400 on.
func orStatus(resp *http.Response) (*http.Response, error) {
	if resp.StatusCode < http.StatusBadRequest {
		return resp, nil
	}
	return nil, errors.Join(statusError(resp.Request.URL, resp.StatusCode), resp.Body.Close())
}

// send does not look at the status. The body that it returns fails when the server is
// silent for too long; closing it ends the request.
func (s *session) send(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	req = req.Clone(ctx)
	if req.Header.Get("Accept-Encoding") == "" {
		req.Header.Set("Accept-Encoding", "identity")
	}
	if s.authorization != "" && originOf(req.URL) == s.home {
		req.Header.Set("Authorization", s.authorization)
	}
	quiet := time.AfterFunc(s.silence, func() { cancel(errSilent) })
	resp, err := s.client.Do(req) //nolint:gosec // G704: which repository is asked is for whoever makes the add-on to say
	quiet.Stop()
	if err != nil {
		err = at(req.URL, failure(ctx, err))
		cancel(nil)
		return nil, err
	}
	resp.Body = &body{ReadCloser: resp.Body, ctx: ctx, cancel: cancel, quiet: quiet, silence: s.silence, url: resp.Request.URL}
	return resp, nil
}

// failure gives an error of net/http a class.
func failure(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errSilent):
		return temporary("%w", errSilent)
	case cause != nil:
		return temporary("%w", cause)
	case errors.Is(err, ErrPermanent):
		return bare(err)
	}
	return temporary("%w", bare(err))
}

// body watches a server while somebody waits for it.
type body struct {
	io.ReadCloser

	ctx     context.Context
	cancel  context.CancelCauseFunc
	quiet   *time.Timer
	silence time.Duration
	url     *url.URL
}

func (b *body) Read(p []byte) (int, error) {
	b.quiet.Reset(b.silence)
	n, err := b.ReadCloser.Read(p)
	b.quiet.Stop()
	if err != nil && !errors.Is(err, io.EOF) {
		return n, at(b.url, failure(b.ctx, err))
	}
	return n, err
}

func (b *body) Close() error {
	b.cancel(nil)
	return b.ReadCloser.Close()
}
