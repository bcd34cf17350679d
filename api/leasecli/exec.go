package leasecli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"example.com/fairlead/api/cli"
	"example.com/fairlead/api/client"
)

const (
	// releaseLimit bounds giving the lease back.
	releaseLimit = 10 * time.Second
	// execWait is how long exec waits for a proxy by default.
	execWait = 30 * time.Second

	// What a shell answers for a program that cannot be run, and adds to a signal's number.
	codeNotExecutable = 126
	codeNotFound      = 127
	codeSignal        = 128
)

// Ended is the error of a command that ended with a code of its own, and told why itself.
type Ended struct{ Code int }

func (e *Ended) Error() string { return fmt.Sprintf("the command ended with code %d", e.Code) }

// execution is an `exec` with its flags.
type execution struct {
	*connection
	request client.Request
}

func (c *connection) execCommand() *cobra.Command {
	e := execution{connection: c}
	cmd := &cobra.Command{
		Use:   "exec [flags] -- COMMAND [ARGUMENT...]",
		Short: "Run a command with a leased proxy in its environment",
		Long: `Leases a proxy, runs the command with HTTP_PROXY and HTTPS_PROXY set to it (both spellings;
ALL_PROXY too for a SOCKS proxy), renews the lease while the command runs, and gives it
back. NO_PROXY is left as it is. The command also has ` + EnvLease + `, ` + EnvURL + ` and
` + EnvTokenFile + `, so that it may report on its lease. It gets the signals that come
here, and its exit code becomes that of fairlead. A lease that ends early is told on
standard error; the command runs on.`,
		Example: `  fairlead lease exec -- curl -s https://shop.example/
  fairlead lease exec --target shop.example --selector region=eu --wait 5m -- python3 crawl.py
  fairlead lease exec -- sh -c 'fetch-all || fairlead lease report "$FAIRLEAD_LEASE" banned'`,
		Args: cli.Needs(0, "name the command to run: fairlead lease exec [flags] -- COMMAND [ARGUMENT...]"),
		RunE: c.leases(&e.request, e.run),
	}
	cmd.Flags().SetInterspersed(false) // what follows the command is its own
	addRequestFlags(cmd.Flags(), &e.request, execWait)
	return cmd
}

func (e *execution) run(ctx context.Context, api *client.Client, cmd *cobra.Command, args []string) error {
	program, err := exec.LookPath(args[0])
	if err != nil {
		return notRun(cmd, args[0], err)
	}
	stop := e.progress.wait(e.request.Wait)
	lease, err := api.Acquire(ctx, e.request)
	stop()
	if err != nil {
		return err
	}
	e.progress.moved(lease)
	child := exec.Command(program, args[1:]...) // #nosec G204 -- the person's own command
	child.Args[0] = args[0]
	child.Env = e.environment(os.Environ(), lease)
	child.Stdin, child.Stdout, child.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	err = attend(ctx, child, lease, cmd.PrintErrln)

	release, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseLimit)
	defer cancel()
	if err := lease.Close(release); err != nil {
		cmd.PrintErrln("fairlead:", e.Explain(err))
	}
	if child.Process == nil && ctx.Err() == nil {
		return notRun(cmd, args[0], err)
	}
	return err
}

// notRun tells why a program cannot be run, with the code that a shell has for that.
func notRun(cmd *cobra.Command, name string, err error) error {
	cmd.PrintErrf("fairlead: run %s: %v\n", name, err)
	if errors.Is(err, os.ErrPermission) {
		return &Ended{codeNotExecutable}
	}
	return &Ended{codeNotFound}
}

// attend runs child until it ends. Signals are passed on to it from before it starts, so
// that none ends this process in between.
func attend(ctx context.Context, child *exec.Cmd, lease *client.Lease, tell func(...any)) error {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(signals)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := child.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	over := lease.Done()
	for {
		select {
		case err := <-ended:
			return codeOf(child, err)
		case s := <-signals:
			if !fromTerminal(s) {
				_ = child.Process.Signal(s) // it may have ended
			}
		case <-over:
			tell("fairlead: the lease is over, and the command runs on without it:", lease.Err())
			over = nil
		}
	}
}

// codeOf is the child's own exit code as an error, and nil for 0.
func codeOf(child *exec.Cmd, err error) error {
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		return fmt.Errorf("run %s: %w", child.Path, err)
	}
	if status, ok := child.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return &Ended{codeSignal + int(status.Signal())}
	}
	if code := child.ProcessState.ExitCode(); code != 0 {
		return &Ended{code}
	}
	return nil
}
