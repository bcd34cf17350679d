// The temporal-devserver command is a whole Temporal service with its Web UI in
// one process on a SQLite file: what `fairlead dev` and the tests run against. It
// has a module of its own, because the server's dependencies and the product's
// cannot share one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// From the first moment on, so that a stop during start-up is no failure.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	options, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "temporal-devserver:", err)
		os.Exit(2)
	}
	if err := run(ctx, options); err != nil {
		fmt.Fprintln(os.Stderr, "temporal-devserver:", err)
		os.Exit(1)
	}
}
