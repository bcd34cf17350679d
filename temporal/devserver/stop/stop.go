// Package stop catches the signals that ask the server to end. It imports next to
// nothing, so that it is initialised ahead of the server's hundreds of packages:
// a signal that comes while those are set up ends the program in order too.
package stop

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

var signals = make(chan os.Signal, 1)

func init() { signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM) }

// Context ends when a signal comes, or has come already. Later signals are
// swallowed: a terminal sends Ctrl-C to a parent and its children, and the parent
// sends its own.
func Context() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-signals
		cancel()
	}()
	return ctx
}
