package eventually_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"example.com/fairlead/internal/eventually"
)

// failing is a test that keeps why it failed.
type failing struct {
	testing.TB
	why string
}

func (*failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.why = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// of returns why a test that waits fails.
func of(wait func(testing.TB)) string {
	f, ended := &failing{}, make(chan struct{})
	go func() {
		defer close(ended)
		wait(f)
	}()
	<-ended
	return f.why
}

func TestWhatComesToBeIsWaitedFor(t *testing.T) {
	looks := 0
	third := func() bool { looks++; return looks == 3 }
	if why := of(func(tb testing.TB) { eventually.Until(tb, "the third look", third) }); why != "" || looks != 3 {
		t.Errorf("it failed after %d looks: %q", looks, why)
	}
}

func TestWhatDoesNotComeToBeFailsTheTest(t *testing.T) {
	const within = time.Millisecond
	for want, wait := range map[string]func(testing.TB){
		"not within 1ms: peace": func(tb testing.TB) {
			eventually.Within(tb, "peace", within, func() bool { return false })
		},
		"not within 1ms: peace; last seen: war": func(tb testing.TB) {
			eventually.Sees(tb, "peace", within, func() (bool, string) { return false, "war" })
		},
	} {
		if why := of(wait); why != want {
			t.Errorf("it fails with %q, want %q", why, want)
		}
	}
}
