// Package local runs everything Fairlead stands on, for `fairlead dev`: the
// Kubernetes control plane, perhaps a node, Temporal and an echo target. What
// Fairlead itself runs on top is not its concern.
//
// The state directory holds
//
//	lock        who uses the directory
//	kubeconfig  an administrator's way into the local cluster
//	pki         certificates and keys of the local cluster
//	etcd        the cluster's objects
//	temporal    Temporal's database
//	examples    what the example add-ons are made of
//	node        the node, while there is one
//	run         the children that run, by pid and start time
//	log         what each child said in this run, and in the former one (.1)
package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"

	"example.com/fairlead/api/kube"
	"example.com/fairlead/deploy"
	"example.com/fairlead/deploy/local/child"
	"example.com/fairlead/deploy/local/controlplane"
	"example.com/fairlead/deploy/local/echo"
	"example.com/fairlead/deploy/local/node"
	"example.com/fairlead/deploy/local/samples"
	"example.com/fairlead/deploy/local/temporal"
)

// Stack is a running local stack.
type Stack struct {
	// RESTConfig is an administrator's way into the cluster.
	RESTConfig *rest.Config
	// Kubeconfig is the file that says the same.
	Kubeconfig string
	// TemporalAddress of the gRPC frontend.
	TemporalAddress string
	// UIAddress is the URL of Temporal's Web UI; empty with an existing Temporal.
	UIAddress string
	// EchoURL is the echo target for what runs on this machine.
	EchoURL string
	// NodeEchoURL is the echo target for pods; empty without a node.
	NodeEchoURL string

	options Options
	lock    *os.File
	group   *child.Group
	cluster *Cluster
	echo    *errgroup.Group
	endEcho context.CancelFunc
}

// Start brings the stack up. When it fails, nothing is left running.
func Start(ctx context.Context, o Options) (*Stack, error) {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	var err error
	if o.StateDir, err = filepath.Abs(o.StateDir); err != nil {
		return nil, fmt.Errorf("find the state directory: %w", err)
	}
	s := &Stack{options: o, cluster: &Cluster{}, echo: &errgroup.Group{}, endEcho: func() {}}
	s.lock, err = lock(o.StateDir, owner{
		PID: os.Getpid(), Since: time.Now(), Kubernetes: o.kubernetesAddress(), HTTP: o.HTTPAddress,
	})
	if err != nil {
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Stop(context.WithoutCancel(ctx)))
	}
	return s, nil
}

func (s *Stack) start(ctx context.Context) error {
	if err := s.clear(ctx); err != nil {
		return err
	}
	if err := s.options.check(); err != nil {
		return err
	}
	parts, partsCtx := errgroup.WithContext(ctx)
	parts.Go(func() error { return s.startCluster(partsCtx) })
	parts.Go(func() error { return s.startTemporal(partsCtx) })
	if err := parts.Wait(); err != nil {
		return err
	}
	return s.startEcho(ctx)
}

// clear ends what a former run left behind and, if asked to, removes its state.
func (s *Stack) clear(ctx context.Context) error {
	var err error
	if s.group, err = child.NewGroup(s.options.StateDir); err != nil {
		return err
	}
	if err := s.group.EndLeftovers(ctx); err != nil {
		return err
	}
	if err := node.Clean(ctx, node.Options{Dir: s.options.StateDir}); err != nil {
		return err
	}
	if !s.options.Clean {
		return nil
	}
	s.options.Progress("removing the state of the former run")
	if s.options.BeforeClean != nil {
		if err := s.options.BeforeClean(ctx); err != nil {
			return fmt.Errorf("prepare for removing the state: %w", err)
		}
	}
	entries, err := os.ReadDir(s.options.StateDir)
	if err != nil {
		return fmt.Errorf("remove the state: %w", err)
	}
	for _, e := range entries {
		if e.Name() == lockName {
			continue
		}
		if err := os.RemoveAll(filepath.Join(s.options.StateDir, e.Name())); err != nil {
			return fmt.Errorf("remove the state: %w", err)
		}
	}
	s.group, err = child.NewGroup(s.options.StateDir)
	return err
}

func (s *Stack) startCluster(ctx context.Context) error {
	o := s.options
	if o.Kubeconfig != "" {
		return s.useCluster(ctx)
	}
	options := ClusterOptions{ControlPlane: controlplane.Options{
		Dir: o.StateDir, BinDir: o.BinDir, Port: o.Ports.Kubernetes, EtcdPort: o.Ports.Etcd, Fsync: true, Progress: o.Progress,
	}}
	if o.Node {
		options.Node = &node.Options{
			Dir: o.StateDir, BinDir: o.BinDir, Subnet: o.NodeSubnet, SubnetFlag: "--" + FlagNodeSubnet, Progress: o.Progress,
		}
	}
	var err error
	if s.cluster, err = StartCluster(ctx, s.group, options); err != nil {
		return err
	}
	s.RESTConfig = s.cluster.Config
	s.Kubeconfig = filepath.Join(o.StateDir, "kubeconfig")
	if err := s.cluster.WriteKubeconfig(s.Kubeconfig, controlplane.Admin); err != nil {
		return err
	}
	o.Progress("the Kubernetes API is ready")
	return nil
}

// useCluster installs Fairlead's objects in an existing cluster.
func (s *Stack) useCluster(ctx context.Context) error {
	s.Kubeconfig = s.options.Kubeconfig
	config, err := kube.Load(s.Kubeconfig)
	if err != nil {
		return fmt.Errorf("read kubeconfig %s: %w", s.Kubeconfig, err)
	}
	s.RESTConfig = config
	s.options.Progress("installing Fairlead's kinds at " + config.Host)
	return controlplane.Apply(ctx, config, deploy.Files, manifests...)
}

func (s *Stack) startTemporal(ctx context.Context) error {
	o := s.options
	if o.TemporalAddress != "" {
		s.TemporalAddress = o.TemporalAddress
		return nil
	}
	server, err := temporal.Start(ctx, s.group, temporal.Options{
		Dir: filepath.Join(o.StateDir, "temporal"), BinDir: o.BinDir,
		Port: o.Ports.Temporal, UIPort: o.Ports.TemporalUI, Progress: o.Progress,
	})
	if err != nil {
		return err
	}
	s.TemporalAddress, s.UIAddress = server.Address, server.UI
	o.Progress("Temporal is ready")
	return nil
}

// startEcho serves the echo target to this machine and, with a node, to pods. Beside it are
// the charts of the examples.
func (s *Stack) startEcho(ctx context.Context) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address(s.options.Ports.Echo))
	if err != nil {
		return fmt.Errorf("start the echo target: %w", err)
	}
	made := samples.Samples{Dir: filepath.Join(s.options.StateDir, "examples"), Files: deploy.Examples, URL: "http://" + l.Addr().String()}
	if err := made.Write(); err != nil {
		return errors.Join(err, l.Close())
	}
	charts := echo.Beside{Path: samples.ChartsPath, Handler: http.FileServer(http.Dir(made.ChartsDir()))}
	listeners := []net.Listener{l}
	s.EchoURL = "http://" + l.Addr().String()
	if s.cluster.Node != nil {
		l, err := s.cluster.Node.Listen(s.options.Ports.Echo)
		if err != nil {
			return errors.Join(err, listeners[0].Close())
		}
		listeners = append(listeners, l)
		s.NodeEchoURL = "http://" + l.Addr().String()
	}
	// The target outlives ctx, which only bounds the start.
	serve, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.endEcho = cancel
	for _, l := range listeners {
		s.echo.Go(func() error { return echo.Serve(serve, l, charts) })
	}
	return nil
}

// Done is closed when a part of the stack ended by itself. The rest should then
// be stopped.
func (s *Stack) Done() <-chan struct{} { return s.group.Done() }

// Err says which part ended and why, once Done is closed.
func (s *Stack) Err() error { return s.group.Err() }

// Stop ends everything and puts the machine back to what it was. When ctx ends,
// what still runs is killed.
func (s *Stack) Stop(ctx context.Context) error {
	s.endEcho()
	errs := []error{s.echo.Wait()}
	if s.group != nil {
		errs = append(errs, s.group.Stop(ctx))
	}
	errs = append(errs, s.cluster.Close(context.WithoutCancel(ctx)), s.lock.Close())
	return errors.Join(errs...)
}
