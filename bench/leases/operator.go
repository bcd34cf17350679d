package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"example.com/fairlead/bench/internal/dice"
)

// operator has proxies rest and ends their cooldowns, and looks whether those are there
// that were promised.
type operator struct {
	*caller
	*phase

	dice *dice.Dice
}

func (p *phase) newOperator(i int) *operator {
	return &operator{caller: p.newCaller(nameOperator), phase: p, dice: dice.New(p.seed, p.name, "operator", i)}
}

// work rests and clears until ctx ends.
func (o *operator) work(ctx context.Context) *violation {
	for linger(ctx, o.dice.Between(50*time.Millisecond, 400*time.Millisecond)) == nil {
		about := pair{loadProxy(o.dice.Below(loadProxies)), targets[o.dice.Below(len(targets))]}
		act := o.rest
		if o.dice.Chance(40) {
			act = o.clear
		}
		if v := act(ctx, about); v != nil && ctx.Err() == nil {
			return v
		}
	}
	return nil
}

func (o *operator) rest(ctx context.Context, about pair) *violation {
	seconds := 1 + o.dice.Below(5)
	noted := o.ledger.addRest(rest{pair: about, lasts: secondsOf(seconds)})
	r := o.send(ctx, request{method: http.MethodPost, path: cooldownsPath(about.proxy), body: restBody{about.target, seconds}})
	switch {
	case r.is(http.StatusCreated):
		o.ledger.answered(&noted.span, r)
	case r.known():
		return breaks(broken, "a rest of %s was answered with %s", about, r)
	}
	return nil
}

func (o *operator) clear(ctx context.Context, about pair) *violation {
	noted := o.ledger.addPardon(about)
	r := o.send(ctx, request{method: http.MethodDelete, path: cooldownsPath(about.proxy) + "?target=" + url.QueryEscape(about.target)})
	switch {
	case r.is(http.StatusNoContent):
		o.ledger.answered(&noted.span, r)
	case r.known():
		return breaks(broken, "the end of the cooldown of %s was answered with %s", about, r)
	}
	return nil
}

func proxyPath(name string) string { return fmt.Sprintf("/v1/proxies/%s/%s", kubeNamespace, name) }

func cooldownsPath(name string) string { return proxyPath(name) + "/cooldowns" }

// audit looks whether every cooldown that was promised is told.
func (o *operator) audit(ctx context.Context) *violation {
	for i := range loadProxies {
		proxy := loadProxy(i)
		r := o.insist(ctx, request{method: http.MethodGet, path: proxyPath(proxy)})
		if ctx.Err() != nil {
			return nil
		}
		var told cooldownsAnswer
		if err := r.decode(&told); err != nil || !r.is(http.StatusOK) {
			return breaks(broken, "the question for %s was answered with %s", proxy, r)
		}
		resting, banned := map[string]bool{}, map[string]bool{}
		for _, c := range told.Cooldowns {
			resting[c.Target], banned[c.Target] = true, c.Strikes > 0
		}
		for _, due := range o.ledger.due(proxy, r.span) {
			if !resting[due.pair.target] || due.ban && !banned[due.pair.target] {
				return breaks(cooldownLost, "it is not told: %s\n  %s", due, r)
			}
			o.count("audited cooldowns", 1)
		}
	}
	return nil
}
