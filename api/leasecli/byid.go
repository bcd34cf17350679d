package leasecli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"example.com/fairlead/api/cli"
	"example.com/fairlead/api/client"
)

const flagRetryAfter = "retry-after"

var results = []string{string(client.OK), string(client.RateLimited), string(client.Banned)}

func (c *connection) reportCommand() *cobra.Command {
	var r client.Report
	cmd := &cobra.Command{
		Use:   "report LEASE {ok|rate_limited|banned}",
		Short: "Tell how a target treated the proxy of a lease",
		Long: `Tells how a target treated the proxy of a lease, so that it rests for this target. A lease
that ended lately may be reported on, too.`,
		Example: `  fairlead lease report "$FAIRLEAD_LEASE" banned
  fairlead lease report ABC rate_limited --retry-after 2m --target shop.example`,
		Args: cli.Needs(2, "name the lease and what was seen: fairlead lease report LEASE {ok|rate_limited|banned}"+listed,
			"say what was seen: fairlead lease report LEASE {ok|rate_limited|banned}"),
		RunE: c.runs(func(ctx context.Context, api *client.Client, cmd *cobra.Command, args []string) error {
			if !slices.Contains(results, args[1]) {
				return fmt.Errorf("%q is none of %v", args[1], results)
			}
			r.Result = client.Result(args[1])
			if r.RetryAfter != 0 && r.Result != client.RateLimited {
				return errors.New("--retry-after is for rate_limited only: a ban lasts as long as it takes")
			}
			if cmd.Flags().Changed(flagRetryAfter) {
				if err := wholeSeconds(flagRetryAfter, r.RetryAfter, time.Second); err != nil {
					return err
				}
			}
			return api.Report(ctx, args[0], r)
		}),
	}
	cmd.Flags().StringVar(&r.Target, "target", "", "`host` that was fetched from (default: the target of the lease)")
	cmd.Flags().DurationVar(&r.RetryAfter, flagRetryAfter, 0, "`time` that the target asked for")
	return cmd
}

func (c *connection) renewCommand() *cobra.Command {
	var ttl time.Duration
	cmd := &cobra.Command{
		Use:   "renew LEASE",
		Short: "Let a lease last anew from now",
		Example: `  fairlead lease renew ABC
  fairlead lease renew ABC --ttl 1h`,
		Args: cli.Needs(1, "name the lease: fairlead lease renew LEASE"+listed),
		RunE: c.runs(func(ctx context.Context, api *client.Client, cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed(flagTTL) {
				if err := wholeSeconds(flagTTL, ttl, time.Second); err != nil {
					return err
				}
			}
			r, err := api.Renew(ctx, args[0], ttl)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "lease %s expires %s%s\n", args[0], in(time.Until(r.ExpiresAt)), condition(r))
			return err
		}),
	}
	cmd.Flags().DurationVar(&ttl, flagTTL, 0, "`time` that the lease lasts from now (default: as long as it was granted for)")
	return cmd
}

// condition of the proxy, if a person should know.
func condition(r client.Renewal) string {
	switch {
	case r.ProxyDraining:
		return "; its proxy is about to be replaced"
	case !r.ProxyHealthy:
		return "; its proxy does not answer well"
	}
	return ""
}

func (c *connection) releaseCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "release LEASE...",
		Short:   "Give leases back; those that ended are no error",
		Example: `  fairlead lease release ABC`,
		Args:    cli.Needs(0, "name the lease: fairlead lease release LEASE"+listed),
		RunE: c.runs(func(ctx context.Context, api *client.Client, _ *cobra.Command, args []string) error {
			for _, id := range args {
				if err := api.Release(ctx, id); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}
