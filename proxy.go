package main

import (
	"os"

	"github.com/spf13/cobra"

	"example.com/fairlead/activities/provider/process/forward"
)

func proxyCommand() *cobra.Command {
	options := forward.Options{Out: os.Stderr}
	cmd := &cobra.Command{
		Use:   "proxy",
		Short: "Run one forward proxy, as instances of type process do",
		Example: `  fairlead proxy --listen 127.0.0.1:3128
  fairlead proxy --listen 127.64.0.7:3128 --dial-from 127.64.0.7 --auth-file credentials`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return forward.Run(cmd.Context(), options) },
	}
	options.AddFlags(cmd.Flags())
	return cmd
}
