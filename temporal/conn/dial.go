// Package conn connects to Temporal: dialling with patience, and the interceptor
// that turns error classes into failures fit for a history.
package conn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/api/serviceerror"
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
	attemptTimeout = 10 * time.Second
	firstPause     = 500 * time.Millisecond
	longestPause   = 15 * time.Second
)

// Dial connects, and gives the namespace the search attributes that it lacks. A
// server that is not up yet is a reason to wait, not to crash: it keeps trying until
// ctx ends, or until an error that waiting does not mend.
func Dial(ctx context.Context, o Options) (client.Client, error) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		c, err := attempt(ctx, o)
		if err == nil {
			return c, nil
		}
		if !lasting(err) {
			o.Log.Warn("Temporal cannot be used yet, trying again", "address", o.Address, "namespace", o.Namespace, "in", pause, "error", err)
			select {
			case <-time.After(pause):
				continue
			case <-ctx.Done():
			}
		}
		return nil, fmt.Errorf("connect to Temporal at %s, namespace %s: %w", o.Address, o.Namespace, err)
	}
}

// Lazy returns a client that connects with its first call: for a part that works
// without Temporal too.
func Lazy(o Options) (client.Client, error) {
	c, err := client.NewLazyClient(o.client())
	if err != nil {
		return nil, fmt.Errorf("set up the client of Temporal at %s: %w", o.Address, err)
	}
	return c, nil
}

func (o Options) client() client.Options {
	return client.Options{
		HostPort:  o.Address,
		Namespace: o.Namespace,
		Identity:  o.Identity,
		Logger:    log.NewStructuredLogger(o.Log),
	}
}

func attempt(ctx context.Context, o Options) (client.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	c, err := client.DialContext(ctx, o.client())
	if err != nil {
		return nil, err
	}
	if err := ensureSearchAttributes(ctx, c, o.Namespace); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// lasting says that only a person can mend err. A namespace that is not there is
// made a moment later in many installations.
func lasting(err error) bool {
	var (
		invalid       *serviceerror.InvalidArgument
		denied        *serviceerror.PermissionDenied
		unimplemented *serviceerror.Unimplemented
	)
	return errors.Is(err, errWrongType) || errors.As(err, &invalid) || errors.As(err, &denied) || errors.As(err, &unimplemented)
}
