package leasecli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"example.com/fairlead/api/cli"
	"example.com/fairlead/api/client"
)

func (c *connection) listCommand() *cobra.Command {
	o := cli.Text
	cmd := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List the active leases that the token may see, the oldest first",
		Example: `  fairlead lease ls
  fairlead lease ls -o json`,
		Args: cobra.NoArgs,
		RunE: c.runs(func(ctx context.Context, api *client.Client, cmd *cobra.Command, _ []string) error {
			if err := o.Check(cli.Text, cli.JSON); err != nil {
				return err
			}
			leases, err := api.List(ctx)
			if err != nil {
				return err
			}
			if o == cli.JSON {
				return cli.PrintJSON(cmd.OutOrStdout(), list[client.Listed]{leases, len(leases)})
			}
			t := cli.NewTable(cmd.OutOrStdout(), "LEASE", "PROXY", "CLIENT", "TARGET", "AGE", "EXPIRES")
			for _, l := range leases {
				t.Row(l.LeaseID, l.Proxy.Namespace+"/"+l.Proxy.Name, l.Client, l.Target, rounded(time.Since(l.GrantedAt)), in(time.Until(l.ExpiresAt)))
			}
			return t.Flush()
		}),
	}
	o.AddFlag(cmd.Flags(), cli.Text, cli.JSON)
	return cmd
}
