// The fairlead command keeps egress proxies running in a Kubernetes cluster and
// lends them out. README.md is the tour.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"example.com/fairlead/api/leasecli"
)

// version is set by the linker.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	if err := rootCommand().ExecuteContext(ctx); err != nil {
		os.Exit(failed(os.Stderr, err))
	}
}

func rootCommand() *cobra.Command {
	var level string
	root := &cobra.Command{
		Use:   "fairlead",
		Short: "Keeps egress proxies running, and lends them",
		Long: `Fairlead keeps every Proxy object of a Kubernetes cluster true: it creates,
probes, replaces and deletes the instances, and lends them to crawlers over HTTP.`,
		Example: `  fairlead dev                                      everything on this machine
  fairlead worker --temporal-address temporal:7233  one part of an installation`,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if level == "" && cmd.Name() == "dev" {
				level = "warn" // the addresses are the last thing on the terminal
			}
			var l slog.Level
			if err := l.UnmarshalText([]byte(cmp.Or(level, "info"))); err != nil {
				return fmt.Errorf("--log-level %q is none of debug, info, warn, error", level)
			}
			handler := slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: l})
			slog.SetDefault(slog.New(handler))
			ctrllog.SetLogger(logr.FromSlogHandler(handler))
			return nil
		},
	}
	root.PersistentFlags().StringVar(&level, "log-level", "", "least `level` that is logged: debug, info, warn or error (default info, for dev warn)")
	root.AddCommand(devCommand(), workerCommand(), starterCommand(), apiCommand(), leasecli.Command(), proxyCommand(), addonCommand(), renderChildCommand(), versionCommand())
	return root
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "fairlead", version)
			return err
		},
	}
}
