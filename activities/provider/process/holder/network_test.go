//go:build node

package holder_test

import (
	"net"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"example.com/fairlead/activities/provider/process/holder"
)

func TestNodeNetworkIsLookedAtFromWithin(t *testing.T) {
	inOwnNetwork(t, func() {
		l, err := net.Listen("tcp", "0.0.0.0:0")
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = l.Close() }()
		if who, err := holder.Find(l.Addr().String()); err != nil || who == nil || who.PID != os.Getpid() {
			t.Errorf("find in a network of its own gave %+v, %v", who, err)
		}
	})
}

// inOwnNetwork calls f on a thread that ends with its network. The program's
// first thread cannot end.
func inOwnNetwork(t *testing.T, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			defer runtime.UnlockOSThread()
			inOwnNetwork(t, f)
			return
		}
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			t.Error(err)
			return
		}
		f()
	}()
	<-done
}
