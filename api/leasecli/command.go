// Package leasecli is `fairlead lease`: it borrows proxies for people and their scripts. It
// knows the client of the HTTP API and nothing behind it.
package leasecli

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/fairlead/api/client"
)

// The variables that say where the API is, and which lease a command has.
const (
	EnvURL       = "FAIRLEAD_API_URL"
	EnvTokenFile = "FAIRLEAD_TOKEN_FILE" // #nosec G101 -- the name of a variable, not a token
	EnvLease     = "FAIRLEAD_LEASE"
)

const (
	flagURL       = "api-url"
	flagTokenFile = "token-file"

	defaultURL = "http://127.0.0.1:8090"
	// devTokenFile is where `fairlead dev` keeps the operator's token.
	devTokenFile = ".fairlead/operator.token" // #nosec G101 -- the name of a file, not a token
	// outlast is for how long, at least, an API is tried again that cannot be reached: a
	// restart, or another replica's start, takes less.
	outlast = 15 * time.Second
)

// connection is where the API is.
type connection struct {
	url, tokenFile string
	// patience is for how long an API is tried again that cannot be reached.
	patience time.Duration
	progress progress
}

func (c *connection) addFlags(f *pflag.FlagSet) {
	f.StringVar(&c.url, flagURL, cmp.Or(os.Getenv(EnvURL), defaultURL), "`URL` of the HTTP API; also $"+EnvURL)
	f.StringVar(&c.tokenFile, flagTokenFile, os.Getenv(EnvTokenFile), "`file` with the token to send; also $"+EnvTokenFile+" (default: "+devTokenFile+", if it is there)")
}

// client connects, with the token of `fairlead dev` if nothing else is said.
func (c *connection) client() (*client.Client, error) {
	if _, err := os.Stat(devTokenFile); c.tokenFile == "" && err == nil {
		c.tokenFile = devTokenFile
	}
	return client.New(client.Options{URL: c.url, TokenFile: c.tokenFile, Patience: c.patience, Retrying: c.progress.retrying, Log: slog.Default()})
}

// action is what a command does with the API.
type action func(ctx context.Context, api *client.Client, cmd *cobra.Command, args []string) error

// runs is the RunE of a command that does a. Its errors name the remedy.
func (c *connection) runs(a action) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c.progress.tell, c.progress.url = cmd.PrintErrln, c.url
		api, err := c.client()
		if err == nil {
			err = a(cmd.Context(), api, cmd, args)
		}
		return c.explain(err)
	}
}

// leases is runs of a command that asks for r. An API that cannot be reached is tried again
// for as long as a proxy is waited for.
func (c *connection) leases(r *client.Request, a action) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := checkRequest(r); err != nil {
			return err
		}
		c.patience = max(c.patience, r.Wait)
		return c.runs(a)(cmd, args)
	}
}

// Command is `fairlead lease`.
func Command() *cobra.Command { return command(outlast) }

func command(patience time.Duration) *cobra.Command {
	c := &connection{patience: patience}
	cmd := &cobra.Command{
		Use:   "lease",
		Short: "Borrow proxies: get, use, report on and release leases",
		Long: `Borrows proxies from the HTTP API, that of "fairlead dev" on this machine unless
--api-url or $` + EnvURL + ` name another one.`,
		Example: `  fairlead lease exec --target shop.example --wait 30s -- curl -s https://shop.example/
  curl -x "$(fairlead lease get --ttl 1m -o url)" https://shop.example/
  fairlead lease ls`,
		Args: cobra.NoArgs,
	}
	c.addFlags(cmd.PersistentFlags())
	cmd.AddCommand(c.getCommand(), c.execCommand(), c.listCommand(), c.reportCommand(), c.renewCommand(), c.releaseCommand())
	return cmd
}
