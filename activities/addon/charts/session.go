package charts

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"

	"example.com/fairlead/activities/fetch"
)

const maxRedirects = 10

// session sends requests with credentials that stay where they belong.
type session struct {
	client *http.Client
	// home is the origin that may see authorization.
	home          fetch.Origin
	creds         Credentials
	authorization string
}

// redirect takes the credentials away at the first step to another origin, for good:
// that origin could send us back with a path of its own choice. net/http alone keeps
// them for subdomains and other ports.
func (s *session) redirect(req *http.Request, via []*http.Request) error {
	if len(via) >= maxRedirects {
		return fetch.Permanent("it redirects more than %d times", maxRedirects)
	}
	if via[len(via)-1].URL.Scheme == fetch.SchemeHTTPS && req.URL.Scheme != fetch.SchemeHTTPS {
		return fetch.Permanent("it redirects from https to %s: use a repository that does not", req.URL.Scheme)
	}
	if err := checkURL(req.URL); err != nil {
		return err
	}
	for _, step := range append(via[1:len(via):len(via)], req) {
		if fetch.OriginOf(step.URL) != s.home {
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
		return nil, at(u, fetch.Permanent("it is no URL to ask for"))
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

// send does not look at the status. Closing the body that it returns ends the request.
func (s *session) send(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	if req.Header.Get("Accept-Encoding") == "" {
		req.Header.Set("Accept-Encoding", encodingNone)
	}
	if s.authorization != "" && fetch.OriginOf(req.URL) == s.home {
		req.Header.Set("Authorization", s.authorization)
	}
	resp, err := s.client.Do(req) //nolint:gosec // G704: which repository is asked is for whoever makes the add-on to say
	if err != nil {
		return nil, at(req.URL, failure(req.Context(), err))
	}
	resp.Body = &body{ReadCloser: resp.Body, ctx: req.Context(), url: resp.Request.URL}
	return resp, nil
}

// failure gives an error of net/http a class.
func failure(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fetch.Temporary("%w", cause)
	}
	if err = fetch.Bare(err); fetch.HasClass(err) {
		return err
	}
	return fetch.Temporary("%w", err)
}

// body gives errors a class and their URL.
type body struct {
	io.ReadCloser

	ctx context.Context // of the request, which the body is a part of
	url *url.URL
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, at(b.url, failure(b.ctx, err))
	}
	return n, err
}
