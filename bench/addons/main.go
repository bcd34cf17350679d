// The chaos-addon command has add-ons live, on a real API server, a real Temporal server and
// the real program, and kills the worker at every write of a life, before it and after it. It
// knows the product from outside, and the product does not know it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/go-logr/logr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	os.Exit(command(ctx, os.Args[1:], os.Stdout))
}

// command returns the exit code. The last line that it prints is the result.
func command(ctx context.Context, args []string, out io.Writer) int {
	o := options{out: out}
	f := flag.NewFlagSet("chaos-addon", flag.ExitOnError)
	f.IntVar(&o.lives, "lives", 0, "how many lives have a kill; 0 is twice as many as a life has writes, so that there is one before and one after each")
	f.IntVar(&o.slots, "slots", 12, "how many lives there are at the same time")
	f.Uint64Var(&o.seed, "seed", 0, "what everything is drawn from; 0 draws it")
	f.StringVar(&o.binDir, "bin-dir", ".bin", "`directory` of etcd, kube-apiserver, temporal-devserver and fairlead, which make builds")
	f.Usage = func() {
		_, _ = fmt.Fprint(f.Output(), "chaos-addon kills the worker at every write of an add-on's life; docs/chaos.md says more.\n\n  make chaos-addon N=24 SEED=7\n\n")
		f.PrintDefaults()
	}
	_ = f.Parse(args) // it exits with what is wrong
	if o.lives < 0 || o.slots < 1 || f.NArg() > 0 {
		_, _ = fmt.Fprintf(out, "chaos-addon: -lives %d -slots %d %v: give a number of lives, at least one slot, and no arguments\n", o.lives, o.slots, f.Args())
		return 2
	}
	if o.seed == 0 {
		o.seed = rand.Uint64() >> 32 // #nosec G404 -- it is printed
	}
	ctrllog.SetLogger(logr.Discard()) // or controller-runtime complains that nobody did
	got, err := inDirectory(ctx, o)
	if err != nil {
		_, _ = fmt.Fprintf(out, "chaos-addon: seed %d: %s\n", o.seed, err)
	}
	line := got.String()
	if err != nil && len(got.counts) == 0 {
		line += ", and the run failed"
	}
	_, _ = fmt.Fprintln(out, line)
	if err != nil {
		return 1
	}
	return 0
}

// inDirectory keeps the files of a run that failed: they are looked into.
func inDirectory(ctx context.Context, o options) (*result, error) {
	got := &result{}
	var err error
	if o.binDir, err = filepath.Abs(o.binDir); err != nil { // or a plain name would be searched for
		return got, fmt.Errorf("find the programs: %w", err)
	}
	if o.dir, err = os.MkdirTemp("", "fairlead-chaos-addon-"); err != nil {
		return got, fmt.Errorf("make a directory for the run: %w", err)
	}
	_, _ = fmt.Fprintf(o.out, "chaos-addon: again with make chaos-addon N=%d SEED=%d\n", o.lives, o.seed)
	if got, err = runAll(ctx, o); err != nil {
		return got, fmt.Errorf("%w (logs: %s)", err, o.dir)
	}
	return got, os.RemoveAll(o.dir)
}
