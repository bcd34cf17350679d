package addoncli

import (
	"time"

	"github.com/spf13/cobra"
)

// CommandsOf are Commands with another patience, and another opinion of what a terminal is.
func CommandsOf(patience, poll time.Duration, terminal func(any) bool) []*cobra.Command {
	return commands{patience: patience, poll: poll, terminal: terminal}.all()
}
