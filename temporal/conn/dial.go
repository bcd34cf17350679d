// Package conn connects to Temporal: dialling with patience, and the interceptor
// that turns error classes into failures fit for a history.
package conn

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
)

// Options say where Temporal is.
type Options struct {
	// Address is host:port of the frontend.
	Address   string
	Namespace string
	Identity  string
	Log       *slog.Logger
}

const (
	dialTimeout  = 5 * time.Second
	firstPause   = 500 * time.Millisecond
	longestPause = 15 * time.Second
)

// Dial connects, and keeps trying until ctx ends: a server that is not up yet is
// a reason to wait, not to crash.
func Dial(ctx context.Context, o Options) (client.Client, error) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		attempt, cancel := context.WithTimeout(ctx, dialTimeout)
		c, err := client.DialContext(attempt, client.Options{
			HostPort:  o.Address,
			Namespace: o.Namespace,
			Identity:  o.Identity,
			Logger:    log.NewStructuredLogger(o.Log),
		})
		cancel()
		if err == nil {
			return c, nil
		}
		o.Log.Warn("Temporal does not answer yet, trying again", "address", o.Address, "namespace", o.Namespace, "in", pause, "error", err)
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("connect to Temporal at %s, namespace %s: %w", o.Address, o.Namespace, err)
		case <-time.After(pause):
		}
	}
}
