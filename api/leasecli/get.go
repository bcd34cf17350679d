package leasecli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"example.com/fairlead/api/cli"
	"example.com/fairlead/api/client"
)

const (
	flagCount   = "count"
	flagAtLeast = "at-least"
)

// getting is a `get` with its flags.
type getting struct {
	*connection
	request        client.Request
	count, atLeast int
	output         cli.Output
}

func (c *connection) getCommand() *cobra.Command {
	g := getting{connection: c, output: cli.Text}
	cmd := &cobra.Command{
		Use:   "get",
		Short: "Lease a proxy",
		Long: `Leases a proxy, or several, for the time of --ttl. Nobody renews the lease: renew it,
or use exec, which does. -o url has the proxy's credentials in it, and -o json beside it.`,
		Example: `  fairlead lease get --selector region=eu --target shop.example --ttl 10m
  fairlead lease get --wait 2m --exclusive -o json
  fairlead lease get --count 10 --at-least 4 -o url
  curl -x "$(fairlead lease get --ttl 1m -o url)" https://shop.example/`,
		Args: cobra.NoArgs,
		RunE: c.leases(&g.request, g.run),
	}
	f := cmd.Flags()
	addRequestFlags(f, &g.request, 0)
	f.IntVar(&g.count, flagCount, 0, "`number` of leases, all or none")
	f.IntVar(&g.atLeast, flagAtLeast, 0, "`number` of leases that will do instead of --count")
	g.output.AddFlag(f, cli.Text, cli.JSON, outputURL)
	return cmd
}

func (g *getting) run(ctx context.Context, api *client.Client, cmd *cobra.Command, _ []string) error {
	if err := g.output.Check(cli.Text, cli.JSON, outputURL); err != nil {
		return err
	}
	if err := g.check(cmd.Flags().Changed); err != nil {
		return err
	}
	stop := g.progress.wait(g.request.Wait)
	leases, err := g.acquire(ctx, api)
	stop()
	if err != nil {
		return err
	}
	g.progress.moved(leases...)
	grants := make([]client.Grant, len(leases))
	for i, l := range leases {
		l.Detach() // it outlives this process
		grants[i] = l.Grant()
		grants[i].ExpiresAt = l.ExpiresAt().UTC()
	}
	return g.print(cmd.OutOrStdout(), grants)
}

func (g *getting) acquire(ctx context.Context, api *client.Client) ([]*client.Lease, error) {
	if g.count == 0 && g.atLeast == 0 {
		l, err := api.Acquire(ctx, g.request)
		return []*client.Lease{l}, err
	}
	return api.AcquireMany(ctx, g.request, g.count, g.atLeast)
}

func (g *getting) print(w io.Writer, grants []client.Grant) error {
	switch {
	case g.output == cli.JSON && g.count == 0:
		return cli.PrintJSON(w, grants[0])
	case g.output == cli.JSON:
		return cli.PrintJSON(w, list[client.Grant]{grants, len(grants)})
	case g.output == outputURL:
		for _, l := range grants {
			if _, err := fmt.Fprintln(w, l.Proxy.URL()); err != nil {
				return err
			}
		}
		return nil
	}
	t := cli.NewTable(w, "LEASE", "PROXY", "ADDRESS", "EXPIRES")
	for _, l := range grants {
		address := l.Proxy.URL()
		address.User = nil
		t.Row(l.LeaseID, l.Proxy.Namespace+"/"+l.Proxy.Name, address.String(), in(time.Until(l.ExpiresAt)))
	}
	return t.Flush()
}
