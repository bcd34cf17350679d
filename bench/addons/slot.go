package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	temporalclient "go.temporal.io/sdk/client"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/fairlead/bench/internal/dice"
	"example.com/fairlead/temporal/conn"
)

func slotName(i int) string { return fmt.Sprintf("slot-%02d", i) }

// slot is an installation of its own on the servers of the run: a worker, which is killed, and
// a starter, both with a gate, and a namespace of Temporal. It has one life at a time.
type slot struct {
	*run

	name     string
	gate     *gate
	worker   *program
	starter  *program
	servers  []*http.Server
	temporal temporalclient.Client
}

func (r *run) openSlot(ctx context.Context, i int) (*slot, error) {
	s := &slot{run: r, name: slotName(i)}
	s.worker = s.program("worker")
	s.starter = s.program("starter", "--addon-sweep-interval", "1h")
	s.gate = &gate{slot: s.name, kill: s.worker.kill, now: time.Now}
	if err := errors.Join(s.aim(s.worker, s.gate), s.aim(s.starter, &gate{slot: s.name, now: time.Now})); err != nil {
		return nil, errors.Join(err, s.close())
	}
	var err error
	if s.temporal, err = conn.Dial(ctx, conn.Options{Address: r.stack.address, Namespace: s.name, Log: r.log}); err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.worker.start(ctx)
	s.starter.start(ctx)
	return s, nil
}

// program is a part of Fairlead in this slot.
func (s *slot) program(part string, more ...string) *program {
	p := &program{
		name: s.name + "-" + part, log: filepath.Join(s.dir, s.name+"-"+part+".log"),
		pauses: dice.New(s.seed, s.name, part), ended: s.stop,
		command: []string{
			filepath.Join(s.binDir, "fairlead"), part, "--only", "addons",
			"--temporal-address", s.stack.address, "--temporal-namespace", s.name,
		},
	}
	if part == "worker" {
		more = append(more, "--cache-dir", filepath.Join(s.dir, s.name+"-cache"))
	}
	p.command = append(p.command, more...)
	return p
}

// aim has a program speak to the API server through a gate.
func (s *slot) aim(p *program, g *gate) error {
	at, server, err := s.stack.open(g)
	if err != nil {
		return err
	}
	s.servers = append(s.servers, server)
	c := clientcmdapi.NewConfig()
	c.Clusters[s.name] = &clientcmdapi.Cluster{Server: at}
	c.Contexts[s.name] = &clientcmdapi.Context{Cluster: s.name}
	c.CurrentContext = s.name
	file := filepath.Join(s.dir, p.name+".kubeconfig")
	if err := clientcmd.WriteToFile(*c, file); err != nil {
		return fmt.Errorf("write the kubeconfig of %s: %w", p.name, err)
	}
	p.command = append(p.command, "--kubeconfig", file)
	return nil
}

// close waits for the programs, which end with the context of the slot.
func (s *slot) close() error {
	var errs []error
	for _, p := range []*program{s.worker, s.starter} {
		if p.done != nil {
			p.wait()
		}
	}
	for _, server := range s.servers {
		errs = append(errs, server.Close())
	}
	if s.temporal != nil {
		s.temporal.Close()
	}
	return errors.Join(errs...)
}
