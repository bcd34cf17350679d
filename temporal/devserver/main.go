// The temporal-devserver command is a whole Temporal service with its Web UI in
// one process on a SQLite file: what `fairlead dev` and the tests run against. It
// has a module of its own, because the server's dependencies and the product's
// cannot share one.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"example.com/fairlead/temporal/devserver/stop"
)

func main() {
	ctx := stop.Context()
	options, err := parse(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		writeUsage(os.Stdout)
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "temporal-devserver:", err)
		fmt.Fprintln(os.Stderr, "temporal-devserver --help lists the flags")
		os.Exit(2)
	}
	if err := run(ctx, options); err != nil {
		fmt.Fprintln(os.Stderr, "temporal-devserver:", err)
		os.Exit(1)
	}
}
