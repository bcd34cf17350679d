package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/utils/clock"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/api/lease/desk"
	"example.com/fairlead/api/server"
	"example.com/fairlead/starter"
)

// apiSettings are those of the HTTP API.
type apiSettings struct {
	address     string
	tokensFile  string
	targetsFile string
	maxLeaseTTL time.Duration
	cooldown    time.Duration
	sessionIdle time.Duration
	leases      leaseSettings
	// onReady, if set, is called when the first requests are answered.
	onReady func()
}

func defaultAPISettings() apiSettings {
	return apiSettings{
		address: "127.0.0.1:8090", maxLeaseTTL: server.DefaultMaxLeaseTTL,
		cooldown: lease.DefaultBan, sessionIdle: lease.DefaultSessionIdle,
	}
}

func (s *apiSettings) addFlags(f *pflag.FlagSet) {
	f.StringVar(&s.address, "http-address", s.address, "`host:port` to serve on")
	f.StringVar(&s.tokensFile, "tokens", "", "tokens `file`; without one, everybody may do everything")
	s.leases.addFlags(f)
	s.addLendingFlags(f)
}

// addLendingFlags are for whoever lends, be it only on this machine.
func (s *apiSettings) addLendingFlags(f *pflag.FlagSet) {
	f.StringVar(&s.targetsFile, "targets", "", "targets `file`, which says how often each target may be fetched; it is read again when it changes")
	f.DurationVar(&s.maxLeaseTTL, "max-lease-ttl", s.maxLeaseTTL, "longest `time` that a lease may be asked for")
	f.DurationVar(&s.cooldown, "cooldown", s.cooldown, "`time` for which a proxy is not lent for a target that banned it; it doubles with each ban in a row")
	f.DurationVar(&s.sessionIdle, "session-idle", s.sessionIdle, "`time` after its last lease for which a session keeps its proxy")
}

func (s *apiSettings) check() error {
	for _, d := range []struct {
		flag  string
		value time.Duration
	}{{"max-lease-ttl", s.maxLeaseTTL}, {"cooldown", s.cooldown}, {"session-idle", s.sessionIdle}} {
		if d.value < time.Second {
			return fmt.Errorf("--%s is %s: give a second or more", d.flag, d.value)
		}
	}
	return nil
}

func (p *parts) addAPI(context.Context) error {
	if err := p.api.check(); err != nil {
		return err
	}
	place, err := p.api.leases.place(p.log)
	if err != nil {
		return err
	}
	tokens, err := server.OpenTokens(p.api.tokensFile, p.log, clock.RealClock{})
	if err != nil {
		return err
	}
	var api *server.API
	d := desk.New(desk.Options{
		Place:  place,
		Engine: lease.Options{Ban: p.api.cooldown, SessionIdle: p.api.sessionIdle},
		Notify: func(ctx context.Context, n lease.Notice) error { return api.Notify(ctx, n) },
		Log:    p.log,
	})
	if api, err = server.New(server.Options{
		Desk:        d,
		Secrets:     p.mgr.GetClient(),
		Objects:     p.live,
		Workflows:   &starter.Signaller{Temporal: p.temporal},
		Addons:      p.servedAddons(),
		Tokens:      tokens,
		Log:         p.log,
		MaxLeaseTTL: p.api.maxLeaseTTL,
		Metrics:     p.metrics,
	}); err != nil {
		return err
	}
	if err := p.followTargets(d); err != nil {
		return err
	}
	lend := func(ctx context.Context) error {
		d.Run(ctx)
		return nil
	}
	serving := []anyReplica{lend, p.serveAPI(api), p.watchProxies(api, d)}
	if p.manager.keepsAddons() {
		serving = append(serving, p.cacheAddons)
	}
	for _, part := range serving {
		if err := p.mgr.Add(part); err != nil {
			return fmt.Errorf("add the HTTP API: %w", err)
		}
	}
	return nil
}

func (p *parts) followTargets(d *desk.Desk) error {
	if p.api.targetsFile == "" {
		return nil
	}
	targets, err := server.OpenTargets(p.api.targetsFile, p.log, clock.RealClock{})
	if err != nil {
		return err
	}
	follow := func(ctx context.Context) error {
		targets.Follow(ctx, d.SetBudgets)
		return nil
	}
	if err := p.mgr.Add(anyReplica(follow)); err != nil {
		return fmt.Errorf("follow the targets file: %w", err)
	}
	return nil
}

func (p *parts) serveAPI(api *server.API) anyReplica {
	return func(ctx context.Context) error {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", p.api.address)
		if err != nil {
			return fmt.Errorf("serve the HTTP API (--http-address): %w", err)
		}
		return server.Serve(ctx, l, api, p.log)
	}
}

// watchProxies tells the API what there is to lend.
func (p *parts) watchProxies(api *server.API, d *desk.Desk) anyReplica {
	return func(ctx context.Context) error {
		err := api.Watch(ctx, p.mgr.GetCache())
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case p.api.onReady == nil:
			return nil
		}
		select {
		case <-ctx.Done():
		case <-d.Opened():
			p.api.onReady()
		}
		return nil
	}
}
