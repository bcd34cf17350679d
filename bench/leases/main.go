// The chaos-lease command loads the lease API, kills it, and stops and cuts off the leader of
// several, on a real API server, a real database and the real program, and holds it to all
// that it acknowledged. It knows the product from outside, and the product does not know it.
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
	"path/filepath"
	"strings"
	"syscall"
	"time"

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
	f := flag.NewFlagSet("chaos-lease", flag.ExitOnError)
	f.IntVar(&o.kills, "kills", 50, "how often the only process, with its leases in a file, is killed")
	f.IntVar(&o.blows, "blows", 20, "how often the leader of three, with their leases in PostgreSQL, is killed, stopped and cut off; needs root")
	f.Uint64Var(&o.seed, "seed", 0, "what everything is drawn from; 0 draws it")
	f.DurationVar(&o.serving, "serving", 2*time.Second, "within which `time` of a kill requests must be served again")
	f.DurationVar(&o.failover, "failover", 5*time.Second, "within which `time` of a blow another replica must serve them")
	f.StringVar(&o.binDir, "bin-dir", ".bin", "`directory` of etcd, kube-apiserver and fairlead, which make builds")
	f.Usage = func() {
		_, _ = fmt.Fprint(f.Output(), "chaos-lease kills the lease API under load; docs/chaos.md says more.\n\n  make chaos-lease N=50 M=20 SEED=7\n\n")
		f.PrintDefaults()
	}
	_ = f.Parse(args) // it exits with what is wrong
	if o.kills < 0 || o.blows < 0 || o.kills+o.blows == 0 || f.NArg() > 0 {
		_, _ = fmt.Fprintf(out, "chaos-lease: -kills %d -blows %d %v: give numbers of kills and of blows, one of them above 0, and no arguments\n", o.kills, o.blows, f.Args())
		return 2
	}
	if o.seed == 0 {
		o.seed = rand.Uint64() >> 32 // #nosec G404 -- it is printed
	}
	ctrllog.SetLogger(logr.Discard()) // or controller-runtime complains that nobody did
	got, err := inDirectory(ctx, o)
	if err != nil {
		_, _ = fmt.Fprintf(out, "chaos-lease: seed %d: %s\n", o.seed, err)
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
	if o.dir, err = os.MkdirTemp("", "fairlead-chaos-lease-"); err != nil {
		return got, fmt.Errorf("make a directory for the run: %w", err)
	}
	_, _ = fmt.Fprintf(o.out, "chaos-lease: again with make chaos-lease N=%d M=%d SEED=%d\n", o.kills, o.blows, o.seed)
	got, err = runAll(ctx, o)
	if what := got.slow(o.serving, o.failover); err == nil && len(what) > 0 {
		err = errors.New(strings.Join(what, ", and "))
	}
	if err != nil {
		return got, fmt.Errorf("%w (logs: %s)", err, o.dir)
	}
	return got, os.RemoveAll(o.dir)
}
