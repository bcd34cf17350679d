package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/utils/clock"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/lease"
	"example.com/fairlead/api/server"
	"example.com/fairlead/starter"
)

// apiSettings are those of the HTTP API.
type apiSettings struct {
	address     string
	tokensFile  string
	maxLeaseTTL time.Duration
	cooldown    time.Duration
	// onReady, if set, is called when the first requests are answered.
	onReady func()
}

func defaultAPISettings() apiSettings {
	return apiSettings{address: "127.0.0.1:8090", maxLeaseTTL: server.DefaultMaxLeaseTTL, cooldown: lease.DefaultCooldown}
}

func (s *settings) addAPIFlags(f *pflag.FlagSet) {
	f.StringVar(&s.api.address, "http-address", s.api.address, "`host:port` to serve on")
	f.StringVar(&s.api.tokensFile, "tokens", "", "tokens `file`; without one, everybody may do everything")
	f.DurationVar(&s.api.maxLeaseTTL, "max-lease-ttl", s.api.maxLeaseTTL, "longest `time` that a lease may be asked for")
	f.DurationVar(&s.api.cooldown, "cooldown", s.api.cooldown, "`time` for which a proxy is not lent for a target that banned or limited it")
}

func (p *parts) addAPI(context.Context) error {
	tokens, err := server.OpenTokens(p.api.tokensFile, p.log, clock.RealClock{})
	if err != nil {
		return err
	}
	cache := p.mgr.GetCache()
	ready := make(chan struct{})
	handler, err := server.New(server.Options{
		Reader:      p.mgr.GetClient(),
		Secrets:     p.mgr.GetClient(),
		Objects:     p.live,
		Store:       lease.New(lease.Options{Cooldown: p.api.cooldown}),
		Drained:     &starter.Signaller{Temporal: p.temporal},
		Tokens:      tokens,
		Log:         p.log,
		MaxLeaseTTL: p.api.maxLeaseTTL,
		Metrics:     p.metrics,
		Ready: func() error {
			select {
			case <-ready:
				return nil
			default:
				return errors.New("the cache of the objects is not filled yet")
			}
		},
	})
	if err != nil {
		return err
	}
	serve := func(ctx context.Context) error {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", p.api.address)
		if err != nil {
			return fmt.Errorf("serve the HTTP API (--http-address): %w", err)
		}
		go func() {
			if _, err := cache.GetInformer(ctx, &crawl.Proxy{}); err != nil || !cache.WaitForCacheSync(ctx) {
				p.log.Error("the cache of the Proxies cannot be filled", "error", err)
				return
			}
			close(ready)
			if p.api.onReady != nil {
				p.api.onReady()
			}
		}()
		return server.Serve(ctx, l, handler, p.log)
	}
	if err := p.mgr.Add(anyReplica(serve)); err != nil {
		return fmt.Errorf("add the HTTP API: %w", err)
	}
	tell := func(ctx context.Context) error {
		handler.TellDrained(ctx)
		return nil
	}
	if err := p.mgr.Add(anyReplica(tell)); err != nil {
		return fmt.Errorf("tell what has drained: %w", err)
	}
	return nil
}
