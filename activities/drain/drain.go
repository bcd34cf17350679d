// Package drain waits until the last lease of an instance that is to be replaced
// has ended. Leases belong to the api, which is asked over HTTP, like by everybody.
package drain

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"example.com/fairlead/activities/outcome"
	"example.com/fairlead/temporal/wire"
)

const (
	// callTimeout is well under the timeout of an attempt.
	callTimeout = 10 * time.Second
	maxAnswer   = 1 << 20
	// lookEvery is between two looks. The api also signals the last lease's end.
	lookEvery = 15 * time.Second
	// seenSoon is when an api whose cache is a moment behind is asked again.
	seenSoon = 500 * time.Millisecond
)

// Flags that a message names as the remedy.
const (
	FlagURL       = "api-url"
	FlagTokenFile = "api-token-file" // #nosec G101 -- the name of a flag, not a token
)

// Options say where the api is.
type Options struct {
	// URL of the api, such as http://fairlead-api:8090; empty when there is none.
	URL string
	// TokenFile has the token to send, and is read for each call; empty for an api
	// that asks nobody.
	TokenFile string
}

// Check refuses a URL that no api can be asked at.
func (o Options) Check() error {
	u, err := url.Parse(o.URL)
	if o.URL == "" || err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		return nil
	}
	return fmt.Errorf("--%s must be a URL such as http://127.0.0.1:8090", FlagURL)
}

// Activities ask the api for leases.
type Activities struct {
	options Options
	client  *http.Client
}

// New returns the activities on the api that o names.
func New(o Options) *Activities {
	return &Activities{options: o, client: &http.Client{
		Timeout: callTimeout,
		// A token goes to the api that it is for, and nowhere else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// AwaitDrained ends well when the proxy has no lease. An attempt is one look; an api
// that cannot be asked is no failure, since the caller bounds the wait.
func (a *Activities) AwaitDrained(ctx context.Context, in wire.DrainInput) error {
	if a.options.URL == "" {
		return later("nobody knows the leases of Proxy %s: start the worker with --%s", in.Proxy, FlagURL)
	}
	req, err := a.request(ctx, in.Proxy)
	if err != nil {
		return later("ask the api for the leases of Proxy %s: %v", in.Proxy, err)
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return later("ask the api for the leases of Proxy %s (--%s): %v", in.Proxy, FlagURL, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return later("read what the api says of Proxy %s: %v", in.Proxy, err)
	}
	return judge(in, resp.StatusCode, body)
}

func (a *Activities) request(ctx context.Context, ref wire.ProxyRef) (*http.Request, error) {
	base := strings.TrimRight(a.options.URL, "/")
	address := base + "/v1/proxies/" + url.PathEscape(ref.Namespace) + "/" + url.PathEscape(ref.Name)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil || a.options.TokenFile == "" {
		return req, err
	}
	token, err := os.ReadFile(filepath.Clean(a.options.TokenFile))
	if err != nil {
		return nil, fmt.Errorf("read the token (--%s): %w", FlagTokenFile, err)
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	return req, nil
}

// answer has what matters of what the api says of a proxy, or of why it does not.
type answer struct {
	Phase        string `json:"phase"`
	ActiveLeases *int   `json:"activeLeases"`
	Error        string `json:"error"`
}

func judge(in wire.DrainInput, code int, body []byte) error {
	var a answer
	readable := json.Unmarshal(body, &a) == nil
	switch {
	case code == http.StatusNotFound && a.Error == "unknown_proxy":
		return nil
	case code == http.StatusUnauthorized:
		return later("the api does not know the token of the worker: check --%s", FlagTokenFile)
	case code != http.StatusOK:
		return later("the api answers %d %s when asked for the leases of Proxy %s", code, a.Error, in.Proxy)
	case !readable || a.ActiveLeases == nil:
		return later("what answers at --%s is no api of Fairlead", FlagURL)
	case a.Phase != wire.PhaseDraining: // it may still lend
		return &outcome.NotYet{After: seenSoon, What: fmt.Sprintf("the api has not seen yet that Proxy %s drains", in.Proxy)}
	case *a.ActiveLeases > 0:
		return later("instance %d of Proxy %s has leases: %d", in.Incarnation, in.Proxy, *a.ActiveLeases)
	}
	return nil
}

func later(format string, args ...any) error {
	return &outcome.NotYet{After: lookEvery, What: fmt.Sprintf(format, args...)}
}
