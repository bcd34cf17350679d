// Package cli is what the commands that speak HTTP share: where the API is, what to do about
// its errors, and how things are printed. It knows no command.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/fairlead/api/client"
)

// The variables that say where the API is.
const (
	EnvURL       = "FAIRLEAD_API_URL"
	EnvTokenFile = "FAIRLEAD_TOKEN_FILE" // #nosec G101 -- the name of a variable, not a token
)

const (
	flagURL       = "api-url"
	flagTokenFile = "token-file"

	defaultURL = "http://127.0.0.1:8090"
	// devTokenFile is where `fairlead dev` keeps the operator's token.
	devTokenFile = ".fairlead/operator.token" // #nosec G101 -- the name of a file, not a token
)

const (
	// Outlast is for how long, at least, an API is tried again that cannot be reached: a
	// restart, or another replica's start, takes less.
	Outlast = 15 * time.Second
	// Quiet is how long a person waits before a command says what takes its time.
	Quiet = time.Second
)

// Connection is where the API is.
type Connection struct {
	URL, TokenFile string
	// Patience is for how long an API is tried again that cannot be reached.
	Patience time.Duration
	// Retrying, if set, is told of each attempt that is made again after a pause.
	Retrying func(pause time.Duration)

	outage outage
}

// AddFlags lets people say where the API is.
func (c *Connection) AddFlags(f *pflag.FlagSet) {
	f.StringVar(&c.URL, flagURL, cmp.Or(os.Getenv(EnvURL), defaultURL), "`URL` of the HTTP API; also $"+EnvURL)
	f.StringVar(&c.TokenFile, flagTokenFile, os.Getenv(EnvTokenFile), "`file` with the token to send; also $"+EnvTokenFile+" (default: "+devTokenFile+", if it is there)")
}

// Action is what a command does with the API.
type Action func(ctx context.Context, api *client.Client, cmd *cobra.Command, args []string) error

// Runs is the RunE of a command that does a. Its errors name the remedy.
func (c *Connection) Runs(a Action) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		api, err := c.client(cmd.PrintErrln)
		if err == nil {
			err = a(cmd.Context(), api, cmd, args)
		}
		return c.Explain(err)
	}
}

// client connects, with the token of `fairlead dev` if nothing else is said.
func (c *Connection) client(tell func(...any)) (*client.Client, error) {
	if _, err := os.Stat(devTokenFile); c.TokenFile == "" && err == nil {
		c.TokenFile = devTokenFile
	}
	retrying := func(err error, pause time.Duration, until time.Time) {
		if c.Retrying != nil {
			c.Retrying(pause)
		}
		if c.outage.lasts(pause) {
			tell("fairlead: the API at", c.URL, "cannot be used, and is tried again until", until.Format(time.TimeOnly)+":", err)
		}
	}
	return client.New(client.Options{URL: c.URL, TokenFile: c.TokenFile, Patience: c.Patience, Retrying: retrying, Log: slog.Default()})
}

// outage is told once.
type outage struct {
	mu    sync.Mutex
	since time.Time
	told  bool
}

// lasts says whether it is to be told now that the next attempt comes after a pause.
func (o *outage) lasts(pause time.Duration) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() {
		o.since = time.Now()
	}
	if o.told || time.Since(o.since)+pause < Quiet {
		return false
	}
	o.told = true
	return true
}

// Needs refuses a call without an argument, with the word for it; most is how many there may
// be, 0 for any number.
func Needs(most int, missing ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(missing):
			return errors.New(missing[len(args)])
		case most > 0 && len(args) > most:
			return fmt.Errorf("%q is too much: %s %s", args[most], cmd.Parent().CommandPath(), cmd.Use)
		}
		return nil
	}
}
