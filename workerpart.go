package main

import (
	"context"
	"fmt"

	sdkworker "go.temporal.io/sdk/worker"

	"example.com/fairlead/activities/probe"
	"example.com/fairlead/starter"
	"example.com/fairlead/worker"
)

// cachedWorkflows bounds the workflows that a worker keeps in memory between their
// tasks, some 30 KB each. One that was put out costs a reading of its history, which
// is an episode long, when it wakes up.
const cachedWorkflows = 2000

func (p *parts) addWorker(ctx context.Context) error {
	sdkworker.SetStickyWorkflowCacheSize(cachedWorkflows) // for the whole process
	if err := p.mgr.AddReadyzCheck("temporal", temporalAnswers(p.temporal)); err != nil {
		return fmt.Errorf("add the check of Temporal: %w", err)
	}
	work := worker.Options{Temporal: p.temporal, Kubernetes: p.live, Log: p.log, OnPolling: p.onPolling}
	signaller := &starter.Signaller{Temporal: p.temporal}
	if p.manager.keepsProxies() {
		if err := p.keepProxies(&work, signaller); err != nil {
			return err
		}
	}
	if p.manager.keepsAddons() {
		var err error
		if work.Addons, err = p.addonOptions(ctx, signaller); err != nil {
			return err
		}
	}
	if err := p.mgr.Add(anyReplica(func(ctx context.Context) error { return worker.Run(ctx, work) })); err != nil {
		return fmt.Errorf("add the worker: %w", err)
	}
	return nil
}

// keepProxies has the worker keep Proxies, and adds what is done beside it.
func (p *parts) keepProxies(work *worker.Options, signaller *starter.Signaller) error {
	providers, err := p.providers()
	if err != nil {
		return err
	}
	if err := p.leases.Check(); err != nil {
		return err
	}
	work.Providers, work.API, work.Cluster, work.LegacyFinalizer = providers, p.leases, p.cluster, p.legacyFinalizer
	if work.Sweeps, err = p.sweepOptions(signaller); err != nil {
		return err
	}
	vectors, err := probe.NewVectors(p.metrics)
	if err != nil {
		return err
	}
	probes := worker.ProbeOptions{
		Cache:      p.mgr.GetClient(),
		Tell:       signaller,
		DefaultURL: p.defaultProbeURL,
		Metrics:    vectors,
		Log:        p.log,
	}
	if err := p.mgr.Add(anyReplica(func(ctx context.Context) error {
		worker.Probe(ctx, probes)
		return nil
	})); err != nil {
		return fmt.Errorf("add the prober: %w", err)
	}
	wake := worker.WakeOptions{Cache: p.mgr.GetClient(), Wake: signaller, Providers: providers, Log: p.log}
	if err := p.mgr.Add(anyReplica(func(ctx context.Context) error {
		worker.WakeMoved(ctx, wake)
		return nil
	})); err != nil {
		return fmt.Errorf("follow the providers file: %w", err)
	}
	return nil
}
