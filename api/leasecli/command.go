// Package leasecli is `fairlead lease`: it borrows proxies for people and their scripts. It
// knows the client of the HTTP API and nothing behind it.
package leasecli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"example.com/fairlead/api/cli"
	"example.com/fairlead/api/client"
)

// The variables that say where the API is, and which lease a command has.
const (
	EnvURL       = cli.EnvURL
	EnvTokenFile = cli.EnvTokenFile
	EnvLease     = "FAIRLEAD_LEASE"
)

// connection is where the API is that lends.
type connection struct {
	cli.Connection

	progress progress
}

// runs is the RunE of a command that does a. Its errors name the remedy.
func (c *connection) runs(a cli.Action) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c.progress.tell, c.Retrying = cmd.PrintErrln, c.progress.retrying
		err := c.Runs(a)(cmd, args)
		var none *client.NoMatch
		if errors.As(err, &none) && none.Considered > 0 {
			return fmt.Errorf("%w; --wait 30s waits for one, or longer", err)
		}
		return err
	}
}

// leases is runs of a command that asks for r. An API that cannot be reached is tried again
// for as long as a proxy is waited for.
func (c *connection) leases(r *client.Request, a cli.Action) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := checkRequest(r); err != nil {
			return err
		}
		c.Patience = max(c.Patience, r.Wait)
		return c.runs(a)(cmd, args)
	}
}

// Command is `fairlead lease`.
func Command() *cobra.Command { return command(cli.Outlast) }

func command(patience time.Duration) *cobra.Command {
	c := &connection{Connection: cli.Connection{Patience: patience}}
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
	c.AddFlags(cmd.PersistentFlags())
	cmd.AddCommand(c.getCommand(), c.execCommand(), c.listCommand(), c.reportCommand(), c.renewCommand(), c.releaseCommand())
	return cmd
}
