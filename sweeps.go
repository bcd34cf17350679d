package main

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/sweep"
	"example.com/fairlead/starter"
	"example.com/fairlead/worker"
)

// sweepSettings are those of the scheduled looks at providers and at add-ons.
type sweepSettings struct {
	every, addonsEvery time.Duration
	orphans            sweep.Orphans
}

func defaultSweepSettings() sweepSettings {
	return sweepSettings{every: time.Minute, addonsEvery: 5 * time.Minute, orphans: sweep.DefaultOrphans()}
}

const (
	flagEvery       = "sweep-interval"
	flagAddonsEvery = "addon-sweep-interval"
)

// addScheduleFlags are for the part that keeps the Schedules.
func (s *sweepSettings) addScheduleFlags(f *pflag.FlagSet) {
	f.DurationVar(&s.every, flagEvery, s.every, "`time` between two sweeps of a provider, in whole seconds")
	f.DurationVar(&s.addonsEvery, flagAddonsEvery, s.addonsEvery, "`time` between two sweeps of the add-ons, in whole seconds")
}

// addOrphanFlags are for the part that runs the sweeps.
func (s *sweepSettings) addOrphanFlags(f *pflag.FlagSet) {
	f.Var(&s.orphans.Mode, "orphans", "what is done about instances of no Proxy: delete, report or off")
	f.DurationVar(&s.orphans.MinAge, "orphan-min-age", s.orphans.MinAge, "younger instances are no orphans")
	f.IntVar(&s.orphans.KillBudget, "kill-budget", s.orphans.KillBudget, "`number` of orphans that one sweep of a provider may delete")
}

func (s *sweepSettings) check() error {
	for _, i := range []struct {
		flag  string
		every time.Duration
	}{{flagEvery, s.every}, {flagAddonsEvery, s.addonsEvery}} {
		if i.every < time.Second || i.every%time.Second != 0 {
			return fmt.Errorf("--%s %s: give whole seconds, at least one", i.flag, i.every)
		}
	}
	switch o := s.orphans; {
	case o.MinAge < 0:
		return fmt.Errorf("--orphan-min-age %s is negative", o.MinAge)
	case o.KillBudget < 0 || o.KillBudget > sweep.MaxKillBudget:
		return fmt.Errorf("--kill-budget %d: give a number from 0 to %d", o.KillBudget, sweep.MaxKillBudget)
	}
	return nil
}

// sweepOptions are for the worker.
func (p *parts) sweepOptions(workflows sweep.Workflows) (*worker.SweepOptions, error) {
	if err := p.sweeps.check(); err != nil {
		return nil, err
	}
	metrics, err := sweep.NewMetrics(p.metrics)
	if err != nil {
		return nil, err
	}
	orphans := p.sweeps.orphans
	orphans.Namespaces = p.manager.namespaces
	return &worker.SweepOptions{Cache: p.mgr.GetClient(), Workflows: workflows, Orphans: orphans, Metrics: metrics}, nil
}

// addSchedules is the starter's share of the sweeps.
func (p *parts) addSchedules() error {
	if err := p.sweeps.check(); err != nil {
		return err
	}
	s := &starter.Schedules{Temporal: p.temporal, Every: p.sweeps.every, Log: p.log}
	if p.manager.keepsProxies() {
		names, err := p.providerNames()
		if err != nil {
			return err
		}
		s.Providers = names
	}
	if p.manager.keepsAddons() {
		s.AddonsEvery = p.sweeps.addonsEvery
	}
	if err := p.mgr.Add(s); err != nil {
		return fmt.Errorf("add the Schedules of the sweeps: %w", err)
	}
	return nil
}

// providerNames follows the names in the providers file. A starter alone reads no
// settings: it has no access to the backends.
func (p *parts) providerNames() (*provider.Registry, error) {
	if p.registry != nil {
		return p.registry, nil
	}
	types := slices.Collect(maps.Keys(p.builders()))
	names, err := provider.Load(p.providersFile, provider.NamesOnly(types...), p.log)
	if err != nil {
		return nil, err
	}
	if err := p.mgr.Add(anyReplica(names.Follow)); err != nil {
		return nil, fmt.Errorf("follow the providers file: %w", err)
	}
	return names, nil
}
