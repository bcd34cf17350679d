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
	// patience is that of people.
	patience = 3 * time.Second
)

// connection is where the API is.
type connection struct {
	url, tokenFile string
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
	return client.New(client.Options{URL: c.url, TokenFile: c.tokenFile, Patience: patience, Log: slog.Default()})
}

// action is what a command does with the API.
type action func(ctx context.Context, api *client.Client, cmd *cobra.Command, args []string) error

// runs is the RunE of a command that does a. Its errors name the remedy.
func (c *connection) runs(a action) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		api, err := c.client()
		if err == nil {
			err = a(cmd.Context(), api, cmd, args)
		}
		return c.explain(err)
	}
}

// Command is `fairlead lease`.
func Command() *cobra.Command {
	c := &connection{}
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
