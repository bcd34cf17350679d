package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	temporalclient "go.temporal.io/sdk/client"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/fairlead/temporal/conn"
)

// connections are the flags that say what a part of Fairlead talks to.
type connections struct {
	kubeconfig        string
	temporalAddress   string
	temporalNamespace string
}

func (c *connections) addFlags(f *pflag.FlagSet) {
	f.StringVar(&c.kubeconfig, "kubeconfig", "", "kubeconfig `file` of the cluster (default: $KUBECONFIG, else the cluster this runs in)")
	f.StringVar(&c.temporalAddress, "temporal-address", "127.0.0.1:7233", "`host:port` of the Temporal frontend")
	f.StringVar(&c.temporalNamespace, "temporal-namespace", "default", "Temporal `namespace`")
}

func (c *connections) rest() (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.kubeconfig
	cfg, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("find the Kubernetes cluster (--kubeconfig): %w", err)
	}
	cfg.QPS = -1 // the API server's own fairness does it better
	return cfg, nil
}

func (c *connections) temporal(ctx context.Context) (temporalclient.Client, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	dialled, err := conn.Dial(ctx, conn.Options{
		Address:   c.temporalAddress,
		Namespace: c.temporalNamespace,
		Identity:  fmt.Sprintf("fairlead-%d@%s", os.Getpid(), host),
		Log:       slog.Default().With("part", "temporal"),
	})
	if err != nil {
		return nil, err
	}
	if err := conn.EnsureSearchAttributes(ctx, dialled, c.temporalNamespace); err != nil {
		dialled.Close()
		return nil, err
	}
	return dialled, nil
}

// partCommand is the command of one part of an installation.
func partCommand(use, short string, flags func(*pflag.FlagSet, *settings), add ...adder) *cobra.Command {
	var c connections
	s := defaultSettings()
	cmd := &cobra.Command{
		Use:     use,
		Short:   short,
		Example: "  fairlead " + use + " --kubeconfig kubeconfig --temporal-address 127.0.0.1:7233",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := runPart(cmd.Context(), c, s, add)
			if cmd.Context().Err() != nil {
				return nil // it was asked to end
			}
			return err
		},
	}
	c.addFlags(cmd.Flags())
	flags(cmd.Flags(), &s)
	return cmd
}

func runPart(ctx context.Context, c connections, s settings, add []adder) error {
	var err error
	if s.rest, err = c.rest(); err != nil {
		return err
	}
	if s.temporal, err = c.temporal(ctx); err != nil {
		return err
	}
	defer s.temporal.Close()
	return run(ctx, s, add...)
}

func workerCommand() *cobra.Command {
	return partCommand("worker", "Run workflows and activities, and probe the proxies", func(f *pflag.FlagSet, s *settings) { s.addProviderFlags(f) }, (*parts).addWorker)
}

func starterCommand() *cobra.Command {
	return partCommand("starter", "Watch objects and wake their workflows", func(f *pflag.FlagSet, s *settings) {
		s.addProviderFlags(f)
		f.BoolVar(&s.leaderElect, "leader-elect", false, "of several starters, only one watches at a time")
	}, (*parts).addStarter)
}

func apiCommand() *cobra.Command {
	return partCommand("api", "Serve leases over HTTP", func(f *pflag.FlagSet, s *settings) { s.addAPIFlags(f) }, (*parts).addAPI)
}
