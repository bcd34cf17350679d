// The chaos command runs many lives of Proxies at once, on a real API server, a real
// Temporal server and real processes, through faults and blows, and watches all
// along that nothing leaks. All that is drawn comes from one seed. It knows the
// product from outside, and the product does not know it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	if code, played := playRole(os.Args); played {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	os.Exit(command(ctx, os.Args[1:], os.Stdout))
}

// errBroken ends a run whose last line tells of broken promises.
var errBroken = errors.New("a promise was broken")

// command returns the exit code. The last line that it prints is the result.
func command(ctx context.Context, args []string, out io.Writer) int {
	o := options{out: out}
	f := flag.NewFlagSet("chaos", flag.ExitOnError)
	f.IntVar(&o.lifecycles, "lifecycles", 100, "how many lifecycles are run")
	f.Uint64Var(&o.seed, "seed", 0, "what everything is drawn from; 0 draws it")
	f.StringVar(&o.binDir, "bin-dir", ".bin", "`directory` of etcd, kube-apiserver and temporal-devserver, which make builds")
	f.Usage = func() {
		_, _ = fmt.Fprint(f.Output(), "chaos runs lifecycles of Proxies through faults; docs/chaos.md says more.\n\n  make chaos N=1000 SEED=7\n\n")
		f.PrintDefaults()
	}
	_ = f.Parse(args) // it exits with what is wrong
	if o.lifecycles < 1 || f.NArg() > 0 {
		_, _ = fmt.Fprintf(out, "chaos: -lifecycles %d %v: give a number of lifecycles, at least 1, and no arguments\n", o.lifecycles, f.Args())
		return 2
	}
	if o.seed == 0 {
		o.seed = rand.Uint64() >> 32 // #nosec G404 -- it is printed
	}
	ctrllog.SetLogger(logr.Discard()) // or controller-runtime complains that nobody did
	got, err := inDirectory(ctx, o)
	if err != nil {
		_, _ = fmt.Fprintf(out, "chaos: seed %d: %s\n", o.seed, err)
	}
	line := got.String()
	if err != nil && got == (result{lifecycles: got.lifecycles}) {
		line += ", and the run failed"
	}
	_, _ = fmt.Fprintln(out, line)
	if err != nil {
		return 1
	}
	return 0
}

// inDirectory keeps the files of a run that failed: they are looked into.
func inDirectory(ctx context.Context, o options) (got result, err error) {
	if o.dir, err = os.MkdirTemp("", "fairlead-chaos-"); err != nil {
		return got, fmt.Errorf("make a directory for the run: %w", err)
	}
	_, _ = fmt.Fprintf(o.out, "chaos: %d lifecycles; again with make chaos N=%d SEED=%d\n", o.lifecycles, o.lifecycles, o.seed)
	got, err = runAll(ctx, o)
	if err == nil && got != (result{lifecycles: o.lifecycles}) {
		err = errBroken
	}
	if err != nil {
		return got, fmt.Errorf("%w (logs: %s)", err, o.dir)
	}
	return got, os.RemoveAll(o.dir)
}
