package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"example.com/fairlead/deploy"
	"example.com/fairlead/deploy/local/child"
	"example.com/fairlead/deploy/local/controlplane"
	"example.com/fairlead/deploy/local/ports"
	"example.com/fairlead/deploy/local/postgres"
)

// stopTimeout is how long the servers may take to end.
const stopTimeout = time.Minute

// stack is what the replicas need: an API server with the fleet, and for several of them a
// network and a database. No blow falls on it.
type stack struct {
	dir                string
	kubeconfig, tokens string
	// ports are of the API server, etcd, the replicas and the database.
	ports   *ports.Reservation
	group   *child.Group
	network *network
}

func startStack(ctx context.Context, o options) (*stack, error) {
	programs := append(controlplane.Programs(), "fairlead")
	if err := controlplane.CheckPrograms(o.binDir, programs...); err != nil {
		return nil, err
	}
	s := &stack{dir: o.dir, kubeconfig: filepath.Join(o.dir, "kubeconfig"), tokens: filepath.Join(o.dir, "tokens.yaml")}
	var err error
	if s.ports, err = ports.Reserve(4); err != nil {
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
	address := ""
	if o.blows > 0 {
		if s.network, err = makeNetwork(ctx); err != nil {
			return err
		}
		address = s.network.host()
	}
	kube, err := controlplane.Start(ctx, s.group, controlplane.Options{
		Dir: filepath.Join(o.dir, "control-plane"), BinDir: o.binDir, Address: address, Port: s.ports.Ports[0], EtcdPort: s.ports.Ports[1],
	})
	if err != nil {
		return err
	}
	if err := controlplane.Apply(ctx, kube.Config, deploy.Files, "crds/*.yaml"); err != nil {
		return err
	}
	if err := makeFleet(ctx, kube.Config, eras(o)); err != nil {
		return err
	}
	return errors.Join(kube.WriteKubeconfig(s.kubeconfig, controlplane.Admin), writeTokens(s.tokens, crawlers))
}

// eras is how many sets of recorded proxies the longer phase needs.
func eras(o options) int { return max(o.kills, o.blows*len(leaderBlows))/eraBlows + 1 }

// startPostgres returns the file with the connection string for the replicas.
func (s *stack) startPostgres(ctx context.Context) (file string, err error) {
	// The server runs as another user, who must be able to pass.
	if err := os.Chmod(s.dir, 0o711); err != nil { // #nosec G302 -- nobody else can list it
		return "", fmt.Errorf("open the run's directory to PostgreSQL: %w", err)
	}
	server, err := postgres.Start(ctx, s.group, postgres.Options{
		Dir: filepath.Join(s.dir, "postgres"), Port: s.ports.Ports[3], Addresses: []string{s.network.host()},
	})
	if err != nil {
		return "", err
	}
	const database = "leases"
	if err := server.CreateDatabase(ctx, database); err != nil {
		return "", err
	}
	file = filepath.Join(s.dir, "postgres.txt")
	if err := os.WriteFile(file, []byte(server.DSNAt(s.network.host(), database)), 0o600); err != nil {
		return "", fmt.Errorf("write the connection string: %w", err)
	}
	return file, nil
}

// stop ends the servers and takes the network away.
func (s *stack) stop() error {
	defer s.ports.Release()
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	var errs []error
	if s.group != nil {
		errs = append(errs, s.group.Stop(ctx))
	}
	if s.network != nil {
		errs = append(errs, s.network.remove(ctx))
	}
	return errors.Join(errs...)
}
