package addoncli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"example.com/fairlead/api/cli"
	"example.com/fairlead/api/client"
)

// hashWidth tells plans apart in a table; -o json has whole hashes.
const hashWidth = 16

func (c commands) history() *cobra.Command {
	o := cli.Text
	cmd := &cobra.Command{
		Use:   "history NAME",
		Short: "List the last syncs of an add-on, the newest first",
		Long: `Lists the last 10 syncs of an add-on, the newest first. Who approved one is "unverified"
unless a token of the HTTP API proved it: everybody who may edit the object can write a name.`,
		Example: `  fairlead addon history longhorn
  fairlead addon history longhorn -o json`,
		Args: named("history NAME"),
	}
	o.AddFlag(cmd.Flags(), cli.Text, cli.JSON)
	return c.connected(cmd, func(ctx context.Context, api *client.Client, cmd *cobra.Command, args []string) error {
		if err := o.Check(cli.Text, cli.JSON); err != nil {
			return err
		}
		a, err := api.Addon(ctx, args[0])
		if err != nil {
			return err
		}
		slices.Reverse(a.History)
		if o == cli.JSON {
			return cli.PrintJSON(cmd.OutOrStdout(), struct {
				History []client.AddonSync `json:"history"`
			}{a.History})
		}
		t := cli.NewTable(cmd.OutOrStdout(), "WHEN", "REVISION", "PLAN", "WHO", "OUTCOME", "MESSAGE")
		for _, h := range a.History {
			t.Row(at(h.At), line(h.Revision, messageWidth), line(h.PlanHash, hashWidth), who(h), h.Outcome, line(h.Message, messageWidth))
		}
		return t.Flush()
	})
}

func who(h client.AddonSync) string {
	if h.Who == "" || h.Verified {
		return line(h.Who, messageWidth)
	}
	return line(h.Who, messageWidth) + " (unverified)"
}
