package addoncli

import (
	"time"

	"github.com/spf13/cobra"
)

// CommandsOf are Commands with another patience, also for an edit to be looked at, and another
// opinion of what a terminal is.
func CommandsOf(patience, poll, look time.Duration, terminal func(any) bool) []*cobra.Command {
	return commands{patience: patience, poll: poll, look: look, terminal: terminal}.all()
}
