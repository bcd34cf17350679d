// Package temporal runs the Temporal server and its Web UI as a child.
package temporal

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"example.com/fairlead/deploy/local/child"
	"example.com/fairlead/temporal/wire"
)

// Program is the server's file name.
const Program = "temporal-devserver"

const (
	childName    = "temporal"
	host         = "127.0.0.1"
	startTimeout = time.Minute
	pollEvery    = 50 * time.Millisecond
)

// Options say where the server keeps its state and where it listens.
type Options struct {
	// Dir has the database.
	Dir string
	// BinDir has the program.
	BinDir string
	// Port of the gRPC frontend.
	Port int
	// UIPort of the Web UI; 0 for no UI.
	UIPort int
	// Namespaces to have besides default.
	Namespaces []string
	// Progress is told what is waited for. It may be nil.
	Progress func(message string)
}

// Server is a running Temporal server.
type Server struct {
	// Address of the gRPC frontend.
	Address string
	// UI is the URL of the Web UI, empty without one.
	UI string
}

// Start runs the server as a child of group and waits until it answers.
func Start(ctx context.Context, group *child.Group, o Options) (*Server, error) {
	if err := os.MkdirAll(o.Dir, 0o750); err != nil {
		return nil, fmt.Errorf("make directory of Temporal's database: %w", err)
	}
	ready := filepath.Join(o.Dir, "ready")
	if err := os.Remove(ready); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove the former ready file: %w", err)
	}
	if o.Progress != nil {
		o.Progress("starting the Temporal server")
	}
	if _, err := group.Start(child.Spec{Name: childName, Command: o.command(ready)}); err != nil {
		return nil, err
	}
	if err := waitReady(ctx, group, ready); err != nil {
		return nil, err
	}
	s := &Server{Address: net.JoinHostPort(host, strconv.Itoa(o.Port))}
	if o.UIPort != 0 {
		s.UI = "http://" + net.JoinHostPort(host, strconv.Itoa(o.UIPort))
	}
	return s, nil
}

func (o Options) command(ready string) []string {
	line := []string{
		filepath.Join(o.BinDir, Program),
		"--ip=" + host,
		"--port=" + strconv.Itoa(o.Port),
		"--db-filename=" + filepath.Join(o.Dir, "temporal.db"),
		"--ready-file=" + ready,
	}
	if o.UIPort == 0 {
		line = append(line, "--headless")
	} else {
		line = append(line, "--ui-port="+strconv.Itoa(o.UIPort))
	}
	for _, a := range wire.SearchAttributes() {
		line = append(line, "--search-attribute="+a.GetName()+"="+a.GetValueType().String())
	}
	for _, n := range o.Namespaces {
		line = append(line, "--namespace="+n)
	}
	return line
}

// waitReady waits for the ready file, which the server writes once it answers.
func waitReady(ctx context.Context, group *child.Group, ready string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		if _, err := os.Stat(ready); err == nil {
			return nil
		}
		select {
		case <-group.Done():
			return group.Err()
		case <-ctx.Done():
			return fmt.Errorf("wait for the Temporal server to be ready: %w", ctx.Err())
		case <-tick.C:
		}
	}
}
