// Package worker runs workflows and activities, in one place, with a task queue for each
// provider of the providers file; beside them it probes, and follows that file.
package worker

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	temporalclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/desired"
	"example.com/fairlead/activities/drain"
	"example.com/fairlead/activities/events"
	"example.com/fairlead/activities/instance"
	"example.com/fairlead/activities/object"
	"example.com/fairlead/activities/provider"
	"example.com/fairlead/temporal/conn"
	"example.com/fairlead/temporal/wire"
	"example.com/fairlead/workflows/proxy"
)

const (
	// stopTimeout is how long a stopping worker waits for attempts under way.
	stopTimeout = 20 * time.Second
	startAgain  = 10 * time.Second
	// eventsTimeout is how long it waits for what people are told.
	eventsTimeout = 2 * time.Second
)

// Options are what the worker works with.
type Options struct {
	Temporal temporalclient.Client
	// Kubernetes reads and writes live.
	Kubernetes client.Client
	// Providers is nil for no Proxies.
	Providers *provider.Registry
	// API knows the leases.
	API drain.Options
	// Cluster is that of the objects.
	Cluster desired.Cluster
	// LegacyFinalizer comes off the objects with ours; empty for none.
	LegacyFinalizer string
	// Sweeps is nil for none.
	Sweeps *SweepOptions
	// Addons is nil for none.
	Addons *AddonOptions
	Log    *slog.Logger
	// OnPolling, if set, is called once all queues are served.
	OnPolling func()

	onFatal func(queue string, err error)
}

// serve serves all queues until ctx ends.
func serve(ctx context.Context, o Options) error {
	recorder := events.NewRecorder(o.Kubernetes, o.Log)
	defer closeEvents(recorder)
	q := queues{options: o, running: map[string]queue{}}
	defer q.stopAll(stopAllTimeout) // all at once, in the time that the process has
	if o.Addons != nil {
		for name, w := range addonWorkers(o, recorder) {
			if err := q.start(name, w); err != nil {
				return err
			}
		}
	}
	if o.Providers == nil {
		o.OnPolling()
		<-ctx.Done()
		return nil
	}
	if err := q.start(wire.QueueMain, newMainWorker(o, recorder)); err != nil {
		return err
	}
	return q.follow(ctx)
}

// newMainWorker is the worker of Proxies and of the sweeps.
func newMainWorker(o Options, recorder *events.Recorder) sdkworker.Worker {
	main := newWorker(o, wire.QueueMain)
	main.RegisterWorkflowWithOptions(proxy.Workflow, workflow.RegisterOptions{Name: wire.WorkflowProxy})
	objects := &object.Activities{Client: o.Kubernetes, Providers: o.Providers, Cluster: o.Cluster, LegacyFinalizer: o.LegacyFinalizer, Events: recorder}
	register(main, wire.ActivityClaim, objects.Claim)
	register(main, wire.ActivityPublish, objects.Publish)
	register(main, wire.ActivityRelease, objects.Release)
	register(main, wire.ActivityReplace, objects.AskForReplacement)
	leases := drain.New(o.API)
	register(main, wire.ActivityDrained, leases.AwaitDrained)
	register(main, wire.ActivityBans, leases.CountBans)
	registerSweeps(main, o)
	return main
}

// closeEvents gives what was told last a moment to be written.
func closeEvents(recorder *events.Recorder) {
	ctx, cancel := context.WithTimeout(context.Background(), eventsTimeout)
	defer cancel()
	recorder.Close(ctx)
}

func newWorker(o Options, name string) sdkworker.Worker {
	return sdkworker.New(o.Temporal, name, workerOptions(o, name))
}

func workerOptions(o Options, name string) sdkworker.Options {
	return sdkworker.Options{
		WorkerStopTimeout: stopTimeout,
		OnFatalError:      func(err error) { o.onFatal(name, err) },
		Interceptors:      []interceptor.WorkerInterceptor{conn.Failures(classify)},
	}
}

func register(w sdkworker.Worker, name string, fn any) {
	w.RegisterActivityWithOptions(fn, activity.RegisterOptions{Name: name})
}

// queues keeps one worker for each provider of the providers file.
type queues struct {
	options Options
	running map[string]queue
	// others are the workers that do not depend on that file.
	others []sdkworker.Worker
	// stopping waits for the workers that were told to stop.
	stopping sync.WaitGroup
}

type queue struct {
	provider provider.Provider
	worker   sdkworker.Worker
}

// start starts a worker that does not depend on the providers file.
func (q *queues) start(name string, w sdkworker.Worker) error {
	if err := w.Start(); err != nil {
		return fmt.Errorf("%w: %s: %w", errNotStarted, name, err)
	}
	q.others = append(q.others, w)
	return nil
}

// follow starts and stops workers as the providers file changes.
func (q *queues) follow(ctx context.Context) error {
	changed := q.options.Providers.Changed()
	again := time.NewTicker(startAgain) // for a worker that did not start
	defer again.Stop()
	for {
		q.reconcile()
		q.options.OnPolling()
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-again.C:
		}
	}
}

func (q *queues) reconcile() {
	for name, was := range q.running {
		if now, err := q.options.Providers.Get(name); err != nil || now != was.provider {
			q.stopping.Go(was.worker.Stop)
			q.options.Sweeps.forget(name)
			delete(q.running, name)
		}
	}
	for _, name := range q.options.Providers.Names() {
		if _, ok := q.running[name]; ok {
			continue
		}
		p, err := q.options.Providers.Get(name)
		if err != nil {
			continue // it left the file a moment ago
		}
		w := newWorker(q.options, wire.ProviderQueue(name))
		acts := &instance.Activities{Client: q.options.Kubernetes, Provider: p}
		register(w, wire.ActivityCreate, acts.Create)
		register(w, wire.ActivityGet, acts.Get)
		register(w, wire.ActivitySettle, acts.Settle)
		register(w, wire.ActivityDelete, acts.Delete)
		register(w, wire.ActivityVanished, acts.Vanish)
		registerSweep(w, q.options, name, p)
		register(w, wire.ActivityDisown, acts.Disown)
		if err := w.Start(); err != nil {
			q.options.Log.Error("the worker of a provider does not start; its proxies wait", "provider", name, "error", err)
			continue
		}
		q.running[name] = queue{provider: p, worker: w}
	}
}

func (q *queues) stopAll(within time.Duration) {
	for _, w := range q.others {
		q.stopping.Go(w.Stop)
	}
	for _, r := range q.running {
		q.stopping.Go(r.worker.Stop)
	}
	if !waited(&q.stopping, within) {
		q.options.Log.Warn("not all attempts under way have ended; they are made again elsewhere", "after", within)
	}
}
