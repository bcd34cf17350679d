package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"example.com/fairlead/activities/desired"
	"example.com/fairlead/api/server"
	"example.com/fairlead/deploy/local"
)

const (
	// stopTimeout is how long the local stack may take to end.
	stopTimeout = 30 * time.Second
	// failedGrace is how long Fairlead's own parts may take to end once a part of
	// the stack is gone.
	failedGrace = 2 * time.Second
)

// devOptions are the flags of `fairlead dev`.
type devOptions struct {
	local.Options
	temporalNamespace string
	providersFile     string
	probeURL          string
	sweeps            sweepSettings
	cluster           desired.Cluster
	manager           managerSettings
	addons            addonSettings
	api               apiSettings
}

func devCommand() *cobra.Command {
	o := devOptions{sweeps: defaultSweepSettings(), addons: defaultAddonSettings(), api: defaultAPISettings()}
	o.Ports = local.DefaultPorts()
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run everything on this machine, in the foreground",
		Long: `Runs a Kubernetes API, Temporal with its Web UI, an echo target, and Fairlead's
starter, worker and api. State lives in the state directory and survives a
restart. Ctrl-C ends everything but the proxies themselves, which the next start
finds again.`,
		Example: `  fairlead dev
  fairlead dev --clean                      with an empty state
  fairlead dev --node                       and a node, so that pods run
  fairlead dev --http-address 127.0.0.1:9090 --temporal-ui-port 9233
  fairlead dev --kubeconfig ~/.kube/config --temporal-address 127.0.0.1:7233`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDev(cmd.Context(), o, cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.StateDir, "state-dir", ".fairlead", "`directory` for everything that outlives a run")
	f.StringVar(&o.BinDir, "bin-dir", "", "`directory` of the programs that `make` builds (default: that of fairlead)")
	f.StringVar(&o.HTTPAddress, local.FlagHTTPAddress, "127.0.0.1:8090", "`host:port` of Fairlead's HTTP API")
	for _, p := range o.Ports.Flags() {
		f.IntVar(p.Value, p.Name, *p.Value, p.Usage)
	}
	f.BoolVar(&o.Clean, "clean", false, "remove the state of former runs first")
	f.BoolVar(&o.Node, "node", false, "make this machine a node of the local cluster (needs root and Debian's containerd)")
	f.IntVar(&o.NodeSubnet, local.FlagNodeSubnet, 0, "third `number` of the node's addresses 10.200.N.0/30")
	f.StringVar(&o.Kubeconfig, "kubeconfig", "", "kubeconfig `file` of an existing cluster to use instead of a local one")
	f.StringVar(&o.TemporalAddress, "temporal-address", "", "`host:port` of an existing Temporal to use instead of a local one")
	f.StringVar(&o.temporalNamespace, "temporal-namespace", "default", "Temporal `namespace`")
	f.StringVar(&o.providersFile, "providers", "", "providers `file` (default: providers.yaml in the state directory, which is made)")
	f.StringVar(&o.probeURL, "default-probe-url", "", "`URL` to probe through proxies by default (default: the echo target)")
	o.sweeps.addScheduleFlags(f)
	o.sweeps.addOrphanFlags(f)
	addClusterFlag(f, &o.cluster)
	o.manager.addScopeFlags(f)
	o.manager.addOnlyFlag(f)
	o.addons.addGitFlag(f)
	o.api.addLendingFlags(f)
	return cmd
}

func runDev(ctx context.Context, o devOptions, out io.Writer) error {
	if err := o.manager.check(); err != nil {
		return err
	}
	if o.BinDir == "" {
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("find the directory of the programs: %w", err)
		}
		o.BinDir = filepath.Dir(self)
	}
	var err error
	if o.StateDir, err = filepath.Abs(o.StateDir); err != nil {
		return fmt.Errorf("find the state directory: %w", err)
	}
	told := &progress{out: out, start: time.Now()}
	o.Progress = told.say
	o.BeforeClean = func(ctx context.Context) error { return endProxies(ctx, o.StateDir) }
	stack, err := local.Start(ctx, o.Options)
	if err != nil {
		return err
	}
	err = o.serve(ctx, stack, told)
	told.say("stopping; Ctrl-C again ends it at once")
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	return errors.Join(err, stack.Stop(stop))
}

// serve runs Fairlead on the stack until ctx or a part of the stack ends.
func (o devOptions) serve(ctx context.Context, stack *local.Stack, told *progress) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- o.runParts(ctx, stack, told) }()
	select {
	case err := <-ended:
		return err
	case <-stack.Done():
	}
	cancel()
	select {
	case err := <-ended:
		return errors.Join(stack.Err(), err)
	case <-time.After(failedGrace): // a request hangs on the part that is gone; it ends with this process
		return stack.Err()
	}
}

// runParts runs Fairlead's own parts until ctx ends.
func (o devOptions) runParts(ctx context.Context, stack *local.Stack, told *progress) error {
	s, err := o.settings(stack)
	if err != nil {
		return err
	}
	c := connections{temporalAddress: stack.TemporalAddress, temporalNamespace: o.temporalNamespace}
	if s.temporal, err = dial(ctx, &c); err != nil {
		return err
	}
	defer s.temporal.Close()
	var serving atomic.Int32
	one := func() {
		if serving.Add(1) == 2 {
			told.block(o.addresses(stack))
		}
	}
	s.api.onReady, s.onPolling = one, one // each calls it once
	// The starter comes after the worker, whose look at the providers file it shares.
	return run(ctx, s, (*parts).addWorker, (*parts).addStarter, (*parts).addAPI)
}

func (o devOptions) settings(stack *local.Stack) (settings, error) {
	s := defaultSettings()
	s.rest = stack.RESTConfig
	s.sweeps, s.cluster, s.manager, s.addons = o.sweeps, o.cluster, o.manager, o.addons
	s.addons.cacheDir = filepath.Join(o.StateDir, "addons")
	s.defaultProbeURL = o.probeURL
	if s.defaultProbeURL == "" {
		s.defaultProbeURL = stack.EchoURL + "/"
	}
	s.providersFile = o.providersFile
	if s.providersFile == "" {
		s.providersFile = filepath.Join(o.StateDir, "providers.yaml")
		if err := writeDefaultProviders(s.providersFile, proxiesDir(o.StateDir)); err != nil {
			return s, err
		}
	}
	s.api = o.api
	s.api.address = o.HTTPAddress
	s.api.leases.file = filepath.Join(o.StateDir, "leases.db")
	s.api.tokensFile = filepath.Join(o.StateDir, "tokens.yaml")
	s.leases.URL, s.leases.TokenFile = "http://"+dialled(o.HTTPAddress), o.tokenFile()
	return s, server.EnsureOperatorToken(s.api.tokensFile, o.tokenFile())
}

// dialled is where a server that listens on address answers this machine.
func dialled(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("localhost", port)
	}
	return address
}

func (o devOptions) tokenFile() string { return filepath.Join(o.StateDir, "operator.token") }

// example is an Addon object of this stack.
func (o devOptions) example(name string) string { return filepath.Join(o.StateDir, "examples", name) }

func (o devOptions) addresses(stack *local.Stack) string {
	ui := stack.UIAddress
	if ui == "" {
		ui = "(that of " + stack.TemporalAddress + ")"
	}
	echo := stack.EchoURL
	if stack.NodeEchoURL != "" {
		echo += "\n  ... for pods     " + stack.NodeEchoURL
	}
	return fmt.Sprintf(`
  Kubernetes API   %s
                   export KUBECONFIG=%s
  Temporal         %s
  Temporal UI      %s
  HTTP API         http://%s
  operator token   %s
  echo target      %s

  Try:
    export KUBECONFIG=%s
    kubectl apply -f deploy/examples/proxy-process.yaml
    kubectl wait --for=condition=Ready proxy/demo --timeout=60s
    curl -H "Authorization: Bearer $(cat %s)" http://%s/v1/proxies
    kubectl apply -f %s -f %s
    kubectl wait --for=condition=Ready radd/hello radd/team --timeout=60s

  Ctrl-C ends it. Proxies run on; the next start finds them.
`, stack.RESTConfig.Host, relative(stack.Kubeconfig), stack.TemporalAddress, ui, o.HTTPAddress,
		relative(o.tokenFile()), echo, relative(stack.Kubeconfig), relative(o.tokenFile()), o.HTTPAddress,
		relative(o.example("addon-chart.yaml")), relative(o.example("addon-folder.yaml")))
}

// relative is path as a person in the working directory would write it.
func relative(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	if r, err := filepath.Rel(wd, path); err == nil && filepath.IsLocal(r) {
		return r
	}
	return path
}

// progress tells a person what is going on.
type progress struct {
	mu    sync.Mutex
	out   io.Writer
	start time.Time
}

func (p *progress) say(message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// A terminal that is gone is no reason to stop.
	_, _ = fmt.Fprintf(p.out, "%5.1fs  %s\n", time.Since(p.start).Seconds(), message)
}

func (p *progress) block(text string) {
	p.say("Fairlead is ready")
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = io.WriteString(p.out, text+"\n")
}
