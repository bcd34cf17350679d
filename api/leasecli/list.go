package leasecli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"example.com/fairlead/api/client"
)

func (c *connection) listCommand() *cobra.Command {
	o := outputText
	cmd := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List the active leases that the token may see, the oldest first",
		Example: `  fairlead lease ls
  fairlead lease ls -o json`,
		Args: cobra.NoArgs,
		RunE: c.runs(func(ctx context.Context, api *client.Client, cmd *cobra.Command, _ []string) error {
			if err := o.check(outputText, outputJSON); err != nil {
				return err
			}
			leases, err := api.List(ctx)
			if err != nil {
				return err
			}
			if o == outputJSON {
				return printJSON(cmd.OutOrStdout(), list[client.Listed]{leases, len(leases)})
			}
			t := newTable(cmd.OutOrStdout(), "LEASE", "PROXY", "CLIENT", "TARGET", "AGE", "EXPIRES")
			for _, l := range leases {
				t.row(l.LeaseID, l.Proxy.Namespace+"/"+l.Proxy.Name, l.Client, l.Target, rounded(time.Since(l.GrantedAt)), in(time.Until(l.ExpiresAt)))
			}
			return t.flush()
		}),
	}
	o.addFlag(cmd.Flags(), outputText, outputJSON)
	return cmd
}
