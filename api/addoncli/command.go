// Package addoncli is what `fairlead addon` does over HTTP: it shows what a sync of an add-on
// would change, approves it and follows it, and deletes add-ons. It knows the client of the
// HTTP API and nothing behind it.
package addoncli

import (
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"example.com/fairlead/api/cli"
)

const listed = "; fairlead addon list lists them"

// commands are what the tests change.
type commands struct {
	// patience is for how long an API is tried again that cannot be reached.
	patience time.Duration
	// poll is between two looks at an add-on that syncs.
	poll time.Duration
	// look is for how long an edit is waited for to be looked at.
	look time.Duration
	// terminal says whether a stream is one.
	terminal func(stream any) bool
}

// Commands are those of `fairlead addon` that need the HTTP API.
func Commands() []*cobra.Command {
	return commands{patience: cli.Outlast, poll: time.Second, look: lookWithin, terminal: isTerminal}.all()
}

func (c commands) all() []*cobra.Command {
	return []*cobra.Command{c.list(), c.diff(), c.sync(), c.history(), c.uninstall()}
}

// connected has cmd run a, with the flags that say where the API is.
func (c commands) connected(cmd *cobra.Command, a cli.Action) *cobra.Command {
	connection := &cli.Connection{Patience: c.patience}
	connection.AddFlags(cmd.Flags())
	cmd.RunE = connection.Runs(a)
	return cmd
}

// named takes the name of one add-on.
func named(use string) cobra.PositionalArgs {
	return cli.Needs(1, "name the add-on: fairlead addon "+use+listed)
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// coloured says whether colours would help whoever reads w.
func (c commands) coloured(w io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && c.terminal(w)
}
