package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

const (
	// readyTimeout is how long the server may take to answer.
	readyTimeout = time.Minute
	readyPoll    = 20 * time.Millisecond
)

// waitReady waits until every namespace, and the Web UI, can be used.
func waitReady(ctx context.Context, o options) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	c, err := client.NewLazyClient(client.Options{HostPort: o.address(), Logger: silent{}})
	if err != nil {
		return fmt.Errorf("connect to %s: %w", o.address(), err)
	}
	defer c.Close()
	for _, name := range o.Namespaces {
		err := retry(ctx, func() error {
			_, err := c.WorkflowService().ListWorkflowExecutions(ctx, &workflowservice.ListWorkflowExecutionsRequest{Namespace: name, PageSize: 1})
			return err
		})
		if err != nil {
			return fmt.Errorf("wait for namespace %s: %w", name, err)
		}
	}
	if o.Headless {
		return nil
	}
	err = retry(ctx, func() error {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, "tcp", o.uiAddress())
		if err != nil {
			return err
		}
		return conn.Close()
	})
	if err != nil {
		return fmt.Errorf("wait for the Web UI: %w", err)
	}
	return nil
}

// retry calls f until it succeeds or ctx ends; then the error is f's last one.
func retry(ctx context.Context, f func() error) error {
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for {
		err := f()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

// writeReadyFile writes the frontend's address, whole or not at all.
func writeReadyFile(o options) error {
	if o.ReadyFile == "" {
		return nil
	}
	draft := o.ReadyFile + ".new"
	if err := os.WriteFile(draft, []byte(o.address()+"\n"), 0o600); err != nil { // #nosec G703 -- the path is the caller's to choose
		return fmt.Errorf("write the ready file: %w", err)
	}
	if err := os.Rename(draft, o.ReadyFile); err != nil {
		return fmt.Errorf("write the ready file: %w", err)
	}
	return nil
}

func removeReadyFile(o options) error {
	if o.ReadyFile == "" {
		return nil
	}
	if err := os.Remove(o.ReadyFile); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the ready file: %w", err)
	}
	return nil
}

// silent is a logger of the SDK that says nothing: start-up is full of refusals.
type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}
