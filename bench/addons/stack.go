package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"

	"example.com/fairlead/deploy"
	"example.com/fairlead/deploy/local/child"
	"example.com/fairlead/deploy/local/controlplane"
	"example.com/fairlead/deploy/local/ports"
	"example.com/fairlead/deploy/local/temporal"
)

// stopTimeout is how long the servers may take to end.
const stopTimeout = time.Minute

// stack is the servers that a run needs. No blow falls on them.
type stack struct {
	dir     string
	ports   *ports.Reservation
	group   *child.Group
	kube    *rest.Config
	address string // of Temporal
	charts  *http.Server
	// chartsURL is where the repositories are.
	chartsURL string
}

func startStack(ctx context.Context, o options) (*stack, error) {
	if err := controlplane.CheckPrograms(o.binDir, append(controlplane.Programs(), temporal.Program, "fairlead")...); err != nil {
		return nil, err
	}
	s := &stack{dir: o.dir}
	var err error
	if s.ports, err = ports.Reserve(3); err != nil {
		return nil, err
	}
	if err := s.start(ctx, o); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func (s *stack) start(ctx context.Context, o options) (err error) {
	if s.group, err = child.NewGroup(filepath.Join(o.dir, "servers")); err != nil {
		return err
	}
	kube, err := controlplane.Start(ctx, s.group, controlplane.Options{
		Dir: filepath.Join(o.dir, "control-plane"), BinDir: o.binDir, Port: s.ports.Ports[0], EtcdPort: s.ports.Ports[1],
	})
	if err != nil {
		return err
	}
	s.kube = rest.CopyConfig(kube.Config)
	s.kube.QPS = -1                           // nobody else is held up by it
	s.kube.WarningHandler = rest.NoWarnings{} // all kinds are listed, old ones too
	if err := controlplane.Apply(ctx, kube.Config, deploy.Files, "crds/*.yaml", "rbac/*.yaml"); err != nil {
		return err
	}
	var namespaces []string
	for i := range o.slots {
		namespaces = append(namespaces, slotName(i))
	}
	tempo, err := temporal.Start(ctx, s.group, temporal.Options{
		Dir: filepath.Join(o.dir, "temporal"), BinDir: o.binDir, Port: s.ports.Ports[2], Namespaces: namespaces,
	})
	if err != nil {
		return err
	}
	s.address = tempo.Address
	l, err := listen()
	if err != nil {
		return err
	}
	s.chartsURL = "http://" + l.Addr().String()
	s.charts = &http.Server{Handler: repository{}, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.charts.Serve(l) }() // it ends when it is closed
	return nil
}

func listen() (net.Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen on loopback: %w", err)
	}
	return l, nil
}

// open starts a gate, and returns its URL.
func (s *stack) open(g *gate) (string, *http.Server, error) {
	target, err := url.Parse(s.kube.Host)
	if err != nil {
		return "", nil, fmt.Errorf("find the API server: %w", err)
	}
	if g.to, err = rest.TransportFor(s.kube); err != nil {
		return "", nil, fmt.Errorf("connect to the API server: %w", err)
	}
	l, err := listen()
	if err != nil {
		return "", nil, err
	}
	return "http://" + l.Addr().String(), g.serve(l, target), nil
}

// stop ends the servers.
func (s *stack) stop() error {
	defer s.ports.Release()
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	var errs []error
	if s.charts != nil {
		errs = append(errs, s.charts.Close())
	}
	if s.group != nil {
		errs = append(errs, s.group.Stop(ctx))
	}
	return errors.Join(errs...)
}
