package addoncli

import (
	"context"

	"github.com/spf13/cobra"

	"example.com/fairlead/api/cli"
	"example.com/fairlead/api/client"
)

// messageWidth is what a table has room for.
const messageWidth = 80

func (c commands) list() *cobra.Command {
	o := cli.Text
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the add-ons, and what waits to be synced",
		Example: `  fairlead addon list
  fairlead addon list -o json`,
		Args: cobra.NoArgs,
	}
	o.AddFlag(cmd.Flags(), cli.Text, cli.JSON)
	return c.connected(cmd, func(ctx context.Context, api *client.Client, cmd *cobra.Command, _ []string) error {
		if err := o.Check(cli.Text, cli.JSON); err != nil {
			return err
		}
		all, err := api.Addons(ctx)
		if err != nil {
			return err
		}
		if o == cli.JSON {
			return cli.PrintJSON(cmd.OutOrStdout(), struct {
				Addons []client.Addon `json:"addons"`
				Count  int            `json:"count"`
			}{all, len(all)})
		}
		t := cli.NewTable(cmd.OutOrStdout(), "NAME", "PHASE", "NAMESPACE", "REVISION", "HEALTH", "WAITS", "MESSAGE")
		for _, a := range all {
			phase := a.Phase
			if a.Deleting {
				phase = "Deleting"
			}
			if a.Uninstalling {
				phase = "Uninstalling"
			}
			t.Row(line(a.Name, messageWidth), phase, a.Namespace, line(a.Revision, messageWidth), a.Health, changes(a.Plan), line(a.Message, messageWidth))
		}
		return t.Flush()
	})
}
