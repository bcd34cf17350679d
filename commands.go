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

	"example.com/fairlead/api/kube"
	"example.com/fairlead/temporal/conn"
)

// connections are the flags that say what a part of Fairlead talks to.
type connections struct {
	kubeconfig        string
	temporalAddress   string
	temporalNamespace string
}

func (c *connections) addFlags(f *pflag.FlagSet) {
	f.StringVar(&c.kubeconfig, "kubeconfig", "", "kubeconfig `file` of the cluster (default: $KUBECONFIG, else ~/.kube/config, else the cluster this runs in)")
	f.StringVar(&c.temporalAddress, "temporal-address", "127.0.0.1:7233", "`host:port` of the Temporal frontend")
	f.StringVar(&c.temporalNamespace, "temporal-namespace", "default", "Temporal `namespace`")
}

func (c *connections) rest() (*rest.Config, error) {
	cfg, err := kube.Load(c.kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("find the Kubernetes cluster (--kubeconfig): %w", err)
	}
	return cfg, nil
}

// dialler connects to Temporal.
type dialler func(context.Context, *connections) (temporalclient.Client, error)

// dial waits until Temporal can be used.
func dial(ctx context.Context, c *connections) (temporalclient.Client, error) {
	return conn.Dial(ctx, c.temporal())
}

// dialLazily is for a part that works without Temporal too.
func dialLazily(_ context.Context, c *connections) (temporalclient.Client, error) {
	return conn.Lazy(c.temporal())
}

func (c *connections) temporal() conn.Options {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return conn.Options{
		Address:   c.temporalAddress,
		Namespace: c.temporalNamespace,
		Identity:  fmt.Sprintf("fairlead-%d@%s", os.Getpid(), host),
		Log:       slog.Default().With("part", "temporal"),
	}
}

// partCommand is the command of one part of an installation; it runs on s.
func partCommand(s *settings, connect dialler, add adder) *cobra.Command {
	var c connections
	cmd := &cobra.Command{
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := runPart(cmd.Context(), c, *s, connect, add)
			if cmd.Context().Err() != nil {
				return nil // it was asked to end
			}
			return err
		},
	}
	c.addFlags(cmd.Flags())
	return cmd
}

func runPart(ctx context.Context, c connections, s settings, connect dialler, add adder) error {
	if err := s.manager.check(); err != nil {
		return err
	}
	var err error
	if s.rest, err = c.rest(); err != nil {
		return err
	}
	if s.temporal, err = connect(ctx, &c); err != nil {
		return err
	}
	defer s.temporal.Close()
	return run(ctx, s, add)
}

func workerCommand() *cobra.Command {
	s := defaultSettings()
	cmd := partCommand(&s, dial, (*parts).addWorker)
	cmd.Use, cmd.Short = "worker", "Run workflows and activities, and probe the proxies"
	cmd.Long = `Runs the workflows of the Proxies and what they do: it creates, looks at and
deletes instances with the providers of the providers file, writes the status of
the objects, and probes every proxy through itself.

Runs those of the Addons too: it renders them, and reads and writes what they consist of
as the service account rendimiento-addons (deploy/rbac/rendimiento-addons.yaml).`
	cmd.Example = `  fairlead worker --providers providers.yaml --temporal-address temporal:7233
  fairlead worker --kubeconfig ~/.kube/config --default-probe-url https://example.com/
  fairlead worker --api-url http://fairlead-api:8090 --api-token-file worker.token
  fairlead worker --namespace crawlers,scrapers --temporal-namespace crawlers
  fairlead worker --cluster-id 3f2c…        takes over the fleet of a cluster that was restored
  fairlead worker --orphans report          deletes nothing that belongs to no Proxy
  fairlead worker --only addons --cache-dir /var/cache/fairlead
  fairlead worker --only proxies            in a cluster without add-ons
  fairlead worker --metrics-address :9102 --health-address :9103`
	s.addProviderFlags(cmd.Flags())
	s.addLeaseFlags(cmd.Flags())
	addClusterFlag(cmd.Flags(), &s.cluster)
	s.manager.addScopeFlags(cmd.Flags())
	s.manager.addOnlyFlag(cmd.Flags())
	s.addons.addFlags(cmd.Flags())
	s.sweeps.addOrphanFlags(cmd.Flags())
	s.manager.addServingFlags(cmd.Flags())
	return cmd
}

func starterCommand() *cobra.Command {
	s := defaultSettings()
	cmd := partCommand(&s, dial, (*parts).addStarter)
	cmd.Use, cmd.Short = "starter", "Watch objects and wake their workflows"
	cmd.Long = `Watches Proxies, the Secrets that they refer to, and Addons, and wakes the workflow of
each object that changed. It keeps one Temporal Schedule for each provider of the
providers file, of which it reads the names only, and one for the add-ons. It writes nothing to Kubernetes
but, with --leader-elect, a Lease.`
	cmd.Example = `  fairlead starter --providers providers.yaml --temporal-address temporal:7233
  fairlead starter --kubeconfig ~/.kube/config --temporal-address 127.0.0.1:7233
  fairlead starter --leader-elect --leader-election-namespace fairlead-system
  fairlead starter --only proxies           in a cluster without add-ons
  fairlead starter --namespace crawlers,scrapers --temporal-namespace crawlers
  fairlead starter --metrics-address :9102 --health-address :9103`
	s.addProvidersFile(cmd.Flags())
	s.manager.addScopeFlags(cmd.Flags())
	s.manager.addOnlyFlag(cmd.Flags())
	s.sweeps.addScheduleFlags(cmd.Flags())
	s.manager.addServingFlags(cmd.Flags())
	s.manager.addElectionFlags(cmd.Flags())
	return cmd
}

func apiCommand() *cobra.Command {
	s := defaultSettings()
	cmd := partCommand(&s, dialLazily, (*parts).addAPI)
	cmd.Use, cmd.Short = "api", "Serve leases and add-ons over HTTP"
	cmd.Long = `Lends the proxies to crawlers over HTTP, and shows, syncs and deletes add-ons
(with --only proxies it does not; proxies are always lent).
/metrics, /healthz, /readyz and /openapi.yaml are served at the same address.
Leases, sessions and cooldowns are kept in a file, or in a PostgreSQL database that
several replicas share: one of them lends, and the others forward to it. It serves without Temporal too, which it only tells that
a draining proxy's last lease ended, or that a proxy was banned too often.`
	cmd.Example = `  fairlead api --http-address :8090 --tokens tokens.yaml --temporal-address temporal:7233
  fairlead api --kubeconfig ~/.kube/config --temporal-address 127.0.0.1:7233
  fairlead api --namespace crawlers,scrapers --temporal-namespace crawlers
  fairlead api --only proxies               in a cluster without add-ons
  fairlead api --leases /var/lib/fairlead/leases.db --targets targets.yaml
  fairlead api --leases-postgres postgres.txt --advertise-url http://10.0.0.7:8090`
	s.api.addFlags(cmd.Flags())
	s.manager.addScopeFlags(cmd.Flags())
	s.manager.addOnlyFlag(cmd.Flags())
	s.addons.addSystemFlag(cmd.Flags())
	return cmd
}
