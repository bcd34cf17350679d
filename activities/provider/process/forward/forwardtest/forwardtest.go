// Package forwardtest lets a program of tests run as a forward proxy, as its own child.
package forwardtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"example.com/fairlead/activities/provider/process/forward"
)

// Main is `fairlead proxy` as a whole program, which ends with SIGTERM. It returns the
// exit code.
func Main(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return exitCode(Run(ctx, args))
}

// Stubborn is Main that SIGTERM does not end.
func Stubborn(args []string) int {
	signal.Ignore(syscall.SIGTERM)
	return exitCode(Run(context.Background(), args))
}

func exitCode(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		return 3
	}
	return 0
}

// Run reads the flags of `fairlead proxy` and runs one until ctx ends.
func Run(ctx context.Context, args []string) error {
	o := forward.Options{Out: os.Stderr}
	fs := pflag.NewFlagSet("proxy", pflag.ContinueOnError)
	o.AddFlags(fs)
	if err := fs.Parse(args); err != nil {
		return err
	}
	return forward.Run(ctx, o)
}

// ownerPause is between two looks at the owner.
const ownerPause = 2 * time.Second

// FollowOwner ends this program soon after the one with the given pid did: proxies
// outlive whoever started them.
func FollowOwner(pid string) error {
	owner, err := strconv.Atoi(pid)
	if err != nil {
		return fmt.Errorf("the owner's pid: %w", err)
	}
	go func() {
		for range time.Tick(ownerPause) {
			if errors.Is(syscall.Kill(owner, 0), syscall.ESRCH) {
				os.Exit(1)
			}
		}
	}()
	return nil
}
