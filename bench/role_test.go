package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"example.com/fairlead/activities/provider/process/forward"
	"example.com/fairlead/activities/provider/process/forward/forwardtest"
	"example.com/fairlead/activities/provider/process/life"
)

// The roles that the test program plays as its own child.
const (
	// roleProxy is one instance of the process provider.
	roleProxy = "bench-proxy"
	// roleFleet is one process that lives for all instances of a state directory, and
	// answers at all their addresses.
	roleFleet = "bench-fleet"
)

// selfCommand runs the test program in a role. It ends with its owner.
func selfCommand(tb testing.TB, role string, args ...string) []string {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return append([]string{self, role, strconv.Itoa(os.Getpid())}, args...)
}

// playRole plays the role that the arguments name; it plays none when played is
// false.
func playRole(args []string) (code int, played bool) {
	if len(args) < 3 || args[1] != roleProxy && args[1] != roleFleet && args[1] != roleCharts {
		return 0, false
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	err := forwardtest.FollowOwner(args[2])
	switch {
	case err != nil:
	case args[1] == roleProxy:
		err = forwardtest.Run(ctx, args[3:])
	case args[1] == roleCharts:
		err = runCharts(ctx, args[3:])
	default:
		err = runFleet(ctx, args[3:])
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		return 1, true
	}
	return 0, true
}

// runFleet takes the port on all addresses of the machine, a lock file that shows when
// it listens, and the state directories whose seeded instances it lives for.
func runFleet(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return errors.New("want port, lock file and state directories")
	}
	var lives []*life.Life // reachable: the garbage collector closes files
	for _, dir := range args[2:] {
		files, err := filepath.Glob(filepath.Join(dir, "*", lifeFile))
		if err != nil {
			return err
		}
		for _, path := range files {
			l, err := life.Begin(path)
			if err != nil {
				return err
			}
			if err := l.Listening(); err != nil {
				return err
			}
			lives = append(lives, l)
		}
	}
	err := forward.Run(ctx, forward.Options{Listen: "0.0.0.0:" + args[0], LockFile: args[1], Out: os.Stderr})
	for _, l := range lives {
		err = errors.Join(err, l.End())
	}
	return err
}
