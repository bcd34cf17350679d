package chaos_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"example.com/fairlead/bench/chaos"
	"example.com/fairlead/deploy/local/localtest"
)

var (
	lifecycles = flag.Int("lifecycles", 0, "how many lifecycles TestChaos runs; with 0 it is skipped")
	seed       = flag.Uint64("seed", 0, "what everything is drawn from; 0 draws it")
	// last is the last line of the output: after the servers have ended, and after
	// whatever the testing package prints.
	last string
)

func TestMain(m *testing.M) {
	if code, played := chaos.Role(os.Args); played {
		os.Exit(code)
	}
	code := localtest.Main(m)
	if last != "" {
		_, _ = fmt.Fprintln(os.Stdout, last)
	}
	os.Exit(code)
}

func TestChaos(t *testing.T) {
	if *lifecycles == 0 {
		t.Skip("it takes minutes: make chaos N=100")
	}
	s := *seed
	if s == 0 {
		s = rand.Uint64() >> 32
	}
	// What fails is looked into: its files stay.
	dir, err := os.MkdirTemp("", "fairlead-chaos-")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(t.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	_, _ = fmt.Fprintf(os.Stdout, "chaos: %d lifecycles; again with make chaos N=%d SEED=%d\n", *lifecycles, *lifecycles, s)
	result, err := chaos.Run(ctx, chaos.Options{Lifecycles: *lifecycles, Seed: s, Dir: dir, BinDir: localtest.Dir(t), Out: os.Stdout})
	last = result.String()
	if err != nil || result.Lifecycles != *lifecycles || result.Leaked+result.Duplicates+result.Stuck > 0 {
		t.Fatalf("seed %d: %v (logs: %s)", s, err, dir)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Error(err)
	}
}
