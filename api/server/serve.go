package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

const (
	headerTimeout = 5 * time.Second
	readTimeout   = 15 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = 2 * time.Minute
	stopTimeout   = 10 * time.Second
	maxHeader     = 32 << 10
)

// extendDeadline lets a request wait for longer than the server's timeout for writing,
// which still guards against slow clients: what comes after the wait has as long as ever.
func extendDeadline(w http.ResponseWriter, wait time.Duration) {
	// A writer without deadlines has none that could be too short.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(wait + writeTimeout))
}

// Serve answers on l with h until ctx ends, and lets requests that are under way
// finish. It closes l.
func Serve(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger) error {
	s := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader,
		ErrorLog:       slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve the API on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	s.SetKeepAlivesEnabled(false) // whoever asks next asks somebody else
	soft, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	err := s.Shutdown(soft)
	if err != nil {
		err = errors.Join(fmt.Errorf("requests to the API were cut off after %s: %w", stopTimeout, err), s.Close())
	}
	if e := <-ended; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}
