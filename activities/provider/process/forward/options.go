// Package forward is the forward proxy that a process instance runs: HTTP and
// CONNECT, optional basic authentication, and all outgoing connections from one
// address. It knows nothing of providers.
package forward

import (
	"io"
	"time"

	"github.com/spf13/pflag"
)

// Options say how a forward proxy runs.
type Options struct {
	// Listen is the host and port to serve on.
	Listen string
	// DialFrom is the local IP address of all outgoing connections; empty lets the
	// system choose.
	DialFrom string
	// AuthFile holds "username:password" in one line; empty asks for no credentials.
	AuthFile string
	// LockFile must exist; this process locks it for life (package life). Empty for
	// none.
	LockFile string
	// StopGrace is how long requests and tunnels may go on once the proxy is told to
	// stop.
	StopGrace time.Duration
	// Out gets the log.
	Out io.Writer
}

// Names of the flags.
const (
	flagListen    = "listen"
	flagDialFrom  = "dial-from"
	flagAuthFile  = "auth-file"
	flagLockFile  = "lock-file"
	flagStopGrace = "stop-grace"
)

// AddFlags declares the flags that set o.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.Listen, flagListen, "127.0.0.1:3128", "`host:port` to serve on")
	fs.StringVar(&o.DialFrom, flagDialFrom, "", "local IP `address` of all outgoing connections (default: the system chooses)")
	fs.StringVar(&o.AuthFile, flagAuthFile, "", "`file` with \"username:password\" that clients must present (default: none)")
	fs.StringVar(&o.LockFile, flagLockFile, "", "existing `file` to lock for as long as the proxy lives; fails when another process holds it")
	fs.DurationVar(&o.StopGrace, flagStopGrace, time.Second, "`time` for which requests and tunnels may go on after SIGTERM")
}

// Args are the flags that AddFlags understands as o.
func (o *Options) Args() []string {
	args := []string{"--" + flagListen + "=" + o.Listen}
	for _, f := range []struct{ name, value string }{
		{flagDialFrom, o.DialFrom},
		{flagAuthFile, o.AuthFile},
		{flagLockFile, o.LockFile},
	} {
		if f.value != "" {
			args = append(args, "--"+f.name+"="+f.value)
		}
	}
	return append(args, "--"+flagStopGrace+"="+o.StopGrace.String())
}
