package worker

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdkworker "go.temporal.io/sdk/worker"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/temporal/conn"
)

// options are those of a worker whose Temporal is at address, without providers.
func options(t *testing.T, address string, log *bytes.Buffer) Options {
	t.Helper()
	c, err := conn.Lazy(conn.Options{Address: address, Namespace: "n", Log: localtest.Quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return Options{
		Temporal: c, Kubernetes: fake.NewClientBuilder().Build(), Log: slog.New(slog.NewTextHandler(log, nil)),
		Providers: registry(t, filepath.Join(t.TempDir(), "providers.yaml"), "providers: []"),
	}
}

func TestRunEndsWhenAQueueCanBeServedNoMore(t *testing.T) {
	gone := errors.New("the namespace is gone")
	// The SDK gives up after two minutes of refused polls.
	refused := func(ctx context.Context, o Options) error {
		workerOptions(o, "fairlead").OnFatalError(gone)
		<-ctx.Done()
		return nil
	}
	err := run(t.Context(), options(t, "127.0.0.1:1", &bytes.Buffer{}), refused)
	if !errors.Is(err, errFatal) || !errors.Is(err, gone) || !strings.Contains(err.Error(), ": fairlead: ") {
		t.Errorf("run gave %v", err)
	}
}

func TestRunWaitsForATemporalThatIsAway(t *testing.T) {
	var log bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	o := options(t, "127.0.0.1:1", &log)
	o.Log = slog.New(slog.NewTextHandler(&trigger{buffer: &log, on: "trying again", do: cancel}, nil))
	if err := Run(ctx, o); err != nil {
		t.Errorf("run gave %v", err)
	}
	if !strings.Contains(log.String(), "Temporal does not take the worker yet") {
		t.Errorf("the log is\n%s", &log)
	}
}

// trigger does something once the words on are written.
type trigger struct {
	buffer *bytes.Buffer
	on     string
	do     func()
}

func (w *trigger) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(w.on)) {
		w.do()
	}
	return w.buffer.Write(p)
}

// slow is a worker whose attempts under way take until released.
type slow struct {
	sdkworker.Worker
	told    chan struct{}
	release chan struct{}
}

func (s *slow) Stop() { close(s.told); <-s.release }

func TestWorkersStopAtTheSameTime(t *testing.T) {
	release := make(chan struct{})
	left, stays := &slow{told: make(chan struct{}), release: release}, &slow{told: make(chan struct{}), release: release}
	q := queues{options: options(t, "127.0.0.1:1", &bytes.Buffer{}), running: map[string]queue{"left": {worker: left}}}
	q.reconcile() // returns although the worker of the provider that left has not stopped
	q.running["stays"] = queue{worker: stays}
	var stopped sync.WaitGroup
	stopped.Go(func() { q.stopAll(time.Minute) })
	<-left.told
	<-stays.told
	close(release)
	stopped.Wait()
}

func TestWorkersThatDoNotStopAreNotWaitedForLong(t *testing.T) {
	stuck := &slow{told: make(chan struct{}), release: make(chan struct{})}
	defer close(stuck.release)
	var log bytes.Buffer
	q := queues{options: options(t, "127.0.0.1:1", &log), running: map[string]queue{"stuck": {worker: stuck}}}
	q.stopAll(time.Millisecond)
	<-stuck.told
	if !strings.Contains(log.String(), "not all attempts under way have ended") {
		t.Errorf("the log is\n%s", &log)
	}
}
