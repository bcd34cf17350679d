package addoncli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"example.com/fairlead/api/cli"
	"example.com/fairlead/api/client"
)

func (c commands) diff() *cobra.Command {
	o := cli.Text
	cmd := &cobra.Command{
		Use:   "diff NAME",
		Short: "Show what the next sync of an add-on would change",
		Long: `Shows the plan that waits: what it would do in all, each object with its difference to the
cluster, the hooks that would run, and how to approve exactly that. Secrets are masked;
that one would change can be seen.`,
		Example: `  fairlead addon diff longhorn
  fairlead addon diff longhorn | less -R
  fairlead addon diff longhorn -o json | jq -r .hash`,
		Args: named("diff NAME"),
	}
	o.AddFlag(cmd.Flags(), cli.Text, cli.JSON)
	return c.connected(cmd, func(ctx context.Context, api *client.Client, cmd *cobra.Command, args []string) error {
		if err := o.Check(cli.Text, cli.JSON); err != nil {
			return err
		}
		if _, err := c.looked(ctx, api, args[0], cmd.PrintErrln); err != nil {
			return err
		}
		if o == cli.JSON {
			p, err := api.Plan(ctx, args[0])
			if err != nil {
				return err
			}
			return cli.PrintJSON(cmd.OutOrStdout(), p)
		}
		text, err := api.PlanText(ctx, args[0])
		if errors.Is(err, client.ErrNoPlan) {
			return nothingWaits(ctx, api, cmd.OutOrStdout(), args[0])
		}
		if err != nil {
			return err
		}
		shown := safe(string(text))
		if c.coloured(cmd.OutOrStdout()) {
			shown = paint(shown)
		}
		_, err = io.WriteString(cmd.OutOrStdout(), shown)
		return err
	})
}

// nothingWaits says how an add-on is that has no plan.
func nothingWaits(ctx context.Context, api *client.Client, w io.Writer, name string) error {
	a, err := api.Addon(ctx, name)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "nothing waits: add-on %s is %s\n", name, how(a.Addon))
	return err
}
