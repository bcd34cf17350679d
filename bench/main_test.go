package bench

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"example.com/fairlead/deploy/local/localtest"
)

// Sizes, for runs that are shorter than the real ones.
var (
	parkedSize = flag.Int("parked", 10_000, "how many parked proxies BenchmarkParked10000 has")
	sweepSize  = flag.Int("instances", 1000, "how many instances BenchmarkSweep1000 sweeps")
	samples    = flag.Int("samples", 200, "how many creations BenchmarkCreateLatency measures on each side")
	restTime   = flag.Duration("rest", 150*time.Second, "how long BenchmarkParked10000 lets the worker be before it looks at it")
	weekSize   = flag.Float64("weeks", 1, "how many weeks BenchmarkProxyWeek simulates")
	addonSize  = flag.Int("addons", 1000, "how many add-ons BenchmarkAddonSync1000 has")
)

func TestMain(m *testing.M) {
	if code, played := playRole(os.Args); played {
		os.Exit(code)
	}
	flag.Parse()
	code := localtest.Main(m)
	if err := removeProgram(); err != nil {
		fmt.Fprintln(os.Stderr, "remove the program under test:", err)
		code = 1
	}
	os.Exit(code)
}
