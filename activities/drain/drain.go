// Package drain asks the api, over HTTP like everybody, for what only the api knows:
// whether an instance that is to be replaced has leases left, and how often its address
// was banned.
package drain

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
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
	said, known, err := a.ask(ctx, in.Proxy)
	switch {
	case err != nil || !known: // and nobody has a lease of what is not known
		return err
	case said.Phase != wire.PhaseDraining: // it may still lend
		return &outcome.NotYet{After: seenSoon, What: fmt.Sprintf("the api has not seen yet that Proxy %s drains", in.Proxy)}
	case *said.ActiveLeases > 0:
		return later("instance %d of Proxy %s has leases: %d", in.Incarnation, in.Proxy, *said.ActiveLeases)
	}
	return nil
}
