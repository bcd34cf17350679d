package main

import (
	"os"

	"github.com/spf13/cobra"

	"example.com/fairlead/activities/addon/render/child"
)

// renderChildName is the command that a worker starts for itself.
const renderChildName = "render-child"

func renderChildCommand() *cobra.Command {
	return &cobra.Command{
		Use:    renderChildName,
		Short:  "Render charts for the process that started this",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(*cobra.Command, []string) error { return child.Serve(os.Stdin, os.Stdout) },
	}
}
