package addoncli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"example.com/fairlead/api/client"
)

const (
	flagPlan    = "plan"
	flagWait    = "wait"
	flagTimeout = "timeout"
)

// syncing is a `sync` with its flags.
type syncing struct {
	commands
	plan    string
	wait    bool
	timeout time.Duration
}

func (c commands) sync() *cobra.Command {
	s := syncing{commands: c}
	cmd := &cobra.Command{
		Use:   "sync NAME",
		Short: "Approve the plan of an add-on that waits",
		Long: `Approves a plan: that one is applied, and no other. Without --plan it is the one that waits
now, whose hash is printed. If the cluster is no longer what the plan was made for, nothing
is overwritten: the sync stops, and the next plan waits.
With --wait it says how the sync goes on, and succeeds only if the add-on is Synced then.`,
		Example: `  fairlead addon diff longhorn
  fairlead addon sync longhorn --plan "$(fairlead addon diff longhorn -o json | jq -r .hash)" --wait
  fairlead addon sync longhorn --wait --timeout 10m`,
		Args: named("sync NAME"),
	}
	f := cmd.Flags()
	f.StringVar(&s.plan, flagPlan, "", "`hash` of the plan to approve (default: the one that waits)")
	f.BoolVar(&s.wait, flagWait, false, "follow the sync until it ends")
	f.DurationVar(&s.timeout, flagTimeout, 30*time.Minute, "`time` that --wait follows it for")
	return c.connected(cmd, s.run)
}

func (s *syncing) run(ctx context.Context, api *client.Client, cmd *cobra.Command, args []string) error {
	if cmd.Flags().Changed(flagTimeout) && !s.wait {
		return fmt.Errorf("--%s says how long --%s waits: give that too", flagTimeout, flagWait)
	}
	name := args[0]
	before, err := s.looked(ctx, api, name, cmd.PrintErrln)
	if err != nil {
		return err
	}
	plan := s.plan
	if plan == "" {
		plan = before.Plan.Hash // so that a request which is repeated approves no other
	}
	if plan == "" && before.Phase == phaseSynced {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "add-on %s is in sync: nothing waits\n", name)
		return err
	}
	approved, err := api.Sync(ctx, name, plan)
	if err != nil {
		return err
	}
	what := ""
	if c := changes(before.Plan); approved.Plan == before.Plan.Hash {
		what = " (" + c + ")"
	}
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "approved plan %s of add-on %s%s\n", approved.Plan, name, what); err != nil || !s.wait {
		return err
	}
	f := following{api: api, name: name, approved: approved, poll: s.poll, tell: cmd.PrintErrln, uid: before.UID, last: lastOf(before.History)}
	return f.follow(ctx, s.timeout)
}
