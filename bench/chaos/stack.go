package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
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

// stack is the servers: each in a group of its own, so that it can be killed and
// come back on what it had on disk.
type stack struct {
	bin, dir string
	ports    *ports.Reservation

	api     *daemon
	kube    *controlplane.ControlPlane
	tempo   *daemon
	address string // of Temporal
}

// daemon is one of the servers.
type daemon struct {
	dir   string
	group *child.Group
	// victim is the child that a kill is meant for.
	victim string
	start  func(ctx context.Context, g *child.Group) error
}

func startStack(ctx context.Context, bin, dir string) (*stack, error) {
	s := &stack{bin: bin, dir: dir}
	if err := controlplane.CheckPrograms(bin, append(controlplane.Programs(), temporal.Program)...); err != nil {
		return nil, err
	}
	var err error
	if s.ports, err = ports.Reserve(3); err != nil {
		return nil, err
	}
	s.api = &daemon{dir: filepath.Join(dir, "control-plane"), victim: "kube-apiserver", start: s.startAPI}
	s.tempo = &daemon{dir: filepath.Join(dir, "temporal"), victim: "temporal", start: s.startTemporal}
	if err := errors.Join(s.tempo.up(ctx), s.api.up(ctx)); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, controlplane.Apply(ctx, s.kube.Config, deploy.Files, "crds/*.yaml")
}

func (s *stack) startAPI(ctx context.Context, g *child.Group) error {
	var err error
	s.kube, err = controlplane.Start(ctx, g, controlplane.Options{Dir: s.api.dir, BinDir: s.bin, Port: s.ports.Ports[0], EtcdPort: s.ports.Ports[1]})
	return err
}

func (s *stack) startTemporal(ctx context.Context, g *child.Group) error {
	t, err := temporal.Start(ctx, g, temporal.Options{Dir: s.tempo.dir, BinDir: s.bin, Port: s.ports.Ports[2]})
	if err == nil {
		s.address = t.Address
	}
	return err
}

// rest is an administrator's way into the API server.
func (s *stack) rest() *rest.Config { return rest.CopyConfig(s.kube.Config) }

// stop ends the servers.
func (s *stack) stop() error {
	defer s.ports.Release()
	return errors.Join(s.api.down(), s.tempo.down())
}

func (v *daemon) up(ctx context.Context) error {
	var err error
	if v.group, err = child.NewGroup(v.dir); err != nil {
		return err
	}
	return v.start(ctx, v.group)
}

func (v *daemon) down() error {
	if v.group == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return v.group.Stop(ctx)
}

// blow kills the server, leaves it down for a while and starts it again on what is
// on its disk.
func (v *daemon) blow(ctx context.Context, down time.Duration) error {
	data, err := os.ReadFile(filepath.Join(v.dir, "run", v.victim+".json"))
	if err != nil {
		return fmt.Errorf("find the process of %s: %w", v.victim, err)
	}
	var victim struct{ PID int }
	if err := json.Unmarshal(data, &victim); err != nil {
		return fmt.Errorf("find the process of %s: %w", v.victim, err)
	}
	if err := syscall.Kill(-victim.PID, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill %s: %w", v.victim, err)
	}
	select {
	case <-v.group.Done():
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := v.down(); err != nil {
		return err
	}
	if err := linger(ctx, down); err != nil {
		return err
	}
	return v.up(ctx)
}
