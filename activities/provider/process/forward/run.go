package forward

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"example.com/fairlead/activities/provider/process/life"
)

const (
	readHeaderTimeout = 10 * time.Second
	keepAliveTimeout  = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
	// maxLogBytes bounds what one proxy writes into its log.
	maxLogBytes = 1 << 20
	// addressTimeout is how long an address may be taken by a process that ends.
	addressTimeout = 2 * time.Second
	addressPause   = 20 * time.Millisecond
)

// Run serves until ctx ends, then lets what is under way finish within the grace.
// The lock file shows the process as alive before it listens.
func Run(ctx context.Context, o Options) error {
	if o.LockFile == "" {
		return run(ctx, o, func() error { return nil })
	}
	alive, err := life.Begin(o.LockFile)
	if err != nil {
		return err
	}
	return errors.Join(run(ctx, o, alive.Listening), alive.End())
}

// run calls listening once the proxy does.
func run(ctx context.Context, o Options, listening func() error) error {
	log := slog.New(slog.NewTextHandler(&boundedWriter{to: o.Out, left: maxLogBytes}, nil))
	errorLog := slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	p, err := newProxy(o, errorLog)
	if err != nil {
		return err
	}
	listener, err := listen(ctx, o.Listen)
	if err != nil {
		return fmt.Errorf("serve on %s: %w", o.Listen, err)
	}
	// Logged first: from the next line on, others may end it and read its log.
	log.Info("proxy listens", "address", o.Listen, "dialFrom", o.DialFrom, "auth", p.auth != nil)
	if err := listening(); err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{
		Handler:           p,
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       keepAliveTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          errorLog,
	}
	if err := p.serve(ctx, server, listener, o.StopGrace); err != nil {
		return fmt.Errorf("serve on %s: %w", o.Listen, err)
	}
	log.Info("proxy stopped")
	return nil
}

// serve returns when ctx has ended and nothing is under way any more.
func (p *proxy) serve(ctx context.Context, server *http.Server, listener net.Listener, grace time.Duration) error {
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		err := server.Shutdown(ctx)
		p.tunnels.end(ctx)
		stopped <- errors.Join(err, server.Close())
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	if err := <-stopped; err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// listen takes the address. A process that ends gives up its locks some moments before
// its sockets, so that its successor may come while they are still there.
func listen(ctx context.Context, address string) (net.Listener, error) {
	var lc net.ListenConfig
	for end := time.Now().Add(addressTimeout); ; {
		l, err := lc.Listen(ctx, "tcp", address)
		if !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(end) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(addressPause):
		}
	}
}
