// Package client speaks to Fairlead's HTTP API. It borrows proxies: it leases them, keeps
// the leases alive, sends requests through them and gives them back. And it looks after
// add-ons. It needs the standard library only, so that a crawler takes nothing else with it.
package client

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// defaultPatience outlasts a restart of the API.
	defaultPatience = time.Minute
	// idleConnections to the API that are kept, for crawlers with many leases.
	idleConnections = 64
)

// Options of a Client. URL is all that must be set.
type Options struct {
	// URL of the API, such as http://127.0.0.1:8090.
	URL string
	// Token to send, or TokenFile that has it and is read for each request, so that it may
	// change; neither for an API that asks nobody.
	Token     string
	TokenFile string
	// HTTPClient that requests to the API are sent with. The default uses no proxy, whatever
	// HTTP_PROXY says: a crawler's proxies are not the way to the API. It must set no Timeout
	// under that of a waiting request, which takes a minute.
	HTTPClient *http.Client
	// Patience is how long a request pauses, in all, to be sent again while the API cannot
	// be reached or asks to come back; default 1 min, below 0 never.
	Patience time.Duration
	// Retrying, if set, is told why a request will be sent again after a pause, and until when
	// that is done.
	Retrying func(err error, pause time.Duration, until time.Time)
	// Classify says what an answer that came through Lease.Transport means; "" is nothing.
	// The default is Classify. It must leave the body alone.
	Classify func(*http.Response) Result
	// Log is told of renewals and reports that failed; the default tells nobody.
	Log *slog.Logger
	// Jitter spreads what many clients would do at the same time: a number in [0,1).
	Jitter func() float64
}

// Client of one API. It is safe for concurrent use, and needs no end.
type Client struct {
	options Options
	base    string
	http    *http.Client
}

// New returns a client of the API that o names. It does not talk to it yet.
func New(o Options) (*Client, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("the URL of the API is %q: it must be one such as http://127.0.0.1:8090", o.URL)
	}
	if o.Token != "" && o.TokenFile != "" {
		return nil, errors.New("both Token and TokenFile are set: give one of them")
	}
	if o.Patience == 0 {
		o.Patience = defaultPatience
	}
	if o.Classify == nil {
		o.Classify = Classify
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64 // #nosec G404 -- it spreads load and keeps no secret
	}
	return &Client{options: o, base: strings.TrimRight(o.URL, "/"), http: httpClient(o.HTTPClient)}, nil
}

func httpClient(given *http.Client) *http.Client {
	if given == nil {
		t := &http.Transport{}
		if standard, ok := http.DefaultTransport.(*http.Transport); ok {
			t = standard.Clone()
		}
		t.Proxy, t.MaxIdleConnsPerHost = nil, idleConnections
		given = &http.Client{Transport: t}
	}
	own := *given
	// A token goes to the API that it is for, and nowhere else.
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// authorize puts the token on a request.
func (c *Client) authorize(r *http.Request) error {
	token := c.options.Token
	if c.options.TokenFile != "" {
		text, err := os.ReadFile(filepath.Clean(c.options.TokenFile))
		if err != nil {
			return &tokenError{fmt.Errorf("read the token: %w", err)}
		}
		token = strings.TrimSpace(string(text))
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return nil
}

// tokenError is one that asking again does not mend.
type tokenError struct{ error }

func (e *tokenError) Unwrap() error { return e.error }
