package lease_test

import (
	"fmt"
	"runtime"
	"time"

	"example.com/fairlead/api/lease"
)

// deeds are what happens, each as often as it says.
var deeds = []struct {
	often int
	name  string
	do    func(*life)
}{
	{30, "acquire", (*life).ask},
	{25, "wait", (*life).askAndWait},
	{3, "undo", (*life).askAndUndo},
	{20, "release", func(l *life) { l.onLease(func(id string) error { return l.Release(l.t.Context(), id, anybody) }) }},
	{5, "renew", func(l *life) {
		l.onLease(func(id string) error { _, err := l.Renew(l.t.Context(), id, anybody, time.Minute); return err })
	}},
	{12, "report", (*life).tell},
	{12, "time passes", func(l *life) { l.pass(time.Duration(l.rand.IntN(30000)) * time.Millisecond) }},
	{1, "much time passes", func(l *life) { l.pass(time.Duration(l.rand.IntN(36000)) * time.Second) }},
	{12, "a proxy changes", (*life).changeProxy},
	{3, "a proxy comes or goes", (*life).comeOrGo},
	{2, "set aside", func(l *life) { l.SetAside([]string{l.anyUID()}, time.Duration(1+l.rand.IntN(60))*time.Second) }},
	{2, "rest", func(l *life) {
		_, _ = l.Rest(l.t.Context(), l.anyUID(), l.anyTarget(), time.Duration(1+l.rand.IntN(60))*time.Second)
	}},
	{2, "clear", func(l *life) {
		t := l.anyTarget()
		_ = l.Clear(l.t.Context(), l.anyUID(), oneOf(l, nil, &t))
	}},
	{4, "a waiter goes away", func(l *life) {
		if len(l.calls) > 0 {
			c := l.calls[l.rand.IntN(len(l.calls))]
			c.cancel()
			c.end()
		}
	}},
	{1, "crash", (*life).crashAndReturn},
	{1, "budgets", func(l *life) {
		l.SetBudgets(oneOf(l, nil, []lease.Budget{{Target: "shop", PerProxyPerMinute: oneOf(l, 0.3, 2.5)}}))
	}},
}

func (l *life) anyTarget() string { return oneOf(l, "", "shop", "shop", "api") }

func (l *life) anyUID() string {
	if len(l.fleet) == 0 {
		return "nobody"
	}
	return l.fleet[l.rand.IntN(len(l.fleet))].UID
}

func (l *life) anyRequest() lease.Request {
	r := lease.Request{
		Client: oneOf(l, "a", "b", "c"), Target: l.anyTarget(), TTL: time.Duration(1+l.rand.IntN(120)) * time.Second,
		Exclusive: l.chance(15), Priority: l.rand.IntN(3),
	}
	switch n := l.rand.IntN(l.selectors); {
	case n > 2:
		r.Selector = map[string]string{"number": fmt.Sprint(n)}
	case n > 0:
		r.Selector = map[string]string{"region": oneOf(l, "eu", "us")}
	}
	switch l.rand.IntN(6) {
	case 0:
		r.Session = oneOf(l, "s1", "s2")
	case 1:
		r.Count = 2 + l.rand.IntN(3)
		r.AtLeast = l.rand.IntN(r.Count + 1)
	}
	if l.chance(20) {
		r.Key, r.Fingerprint = fmt.Sprint(l.rand.IntN(20)), "f"
	}
	if l.chance(10) {
		r.Quota = lease.Quota{Leases: 4, Waiting: 3}
	}
	return r
}

func (l *life) ask() {
	g, err := l.Acquire(l.t.Context(), l.anyRequest())
	if err == nil {
		l.held = append(l.held, g.Leases...)
	}
}

func (l *life) askAndUndo() {
	r := l.anyRequest()
	if g, err := l.Acquire(l.t.Context(), r); err == nil {
		l.must(l.Undo(l.t.Context(), r, g))
	}
}

// askAndWait returns when the request waits, or has its answer.
func (l *life) askAndWait() {
	r := l.anyRequest()
	r.Wait = time.Duration(1+l.rand.IntN(60)) * time.Second
	_, before := l.Totals()
	c := l.start(func(req *lease.Request) { *req = r })
	for {
		if _, now := l.Totals(); now != before {
			l.calls = append(l.calls, c)
			return
		}
		if l.collect(c) {
			return
		}
		runtime.Gosched()
	}
}

func (l *life) onLease(do func(id string) error) {
	if len(l.held) > 0 {
		_ = do(l.held[max(0, len(l.held)-1-l.rand.IntN(10))].ID)
	}
}

func (l *life) tell() {
	r := lease.Report{Result: oneOf(l, lease.ResultOK, lease.ResultOK, lease.ResultBanned, lease.ResultBanned, lease.ResultRateLimited)}
	if l.chance(20) {
		r.Target = l.anyTarget()
	}
	l.onLease(func(id string) error { return l.Report(l.t.Context(), id, anybody, r) })
}

func (l *life) changeProxy() {
	if len(l.fleet) == 0 {
		return
	}
	c := l.fleet[l.rand.IntN(len(l.fleet))]
	l.past[c.UID] = c
	c.Version++
	if l.anyShape(&c); l.chance(10) {
		c.Host = oneOf(l, "", "10.0.0.1", "10.0.0.2")
	}
	c.Healthy = c.Healthy && c.Host != ""
	l.Put(c)
}

func (l *life) comeOrGo() {
	if len(l.spare) > 0 && l.chance(60) {
		c := l.spare[0]
		l.spare = l.spare[1:]
		delete(l.past, c.UID)
		l.Put(c)
		return
	}
	if len(l.fleet) > 0 {
		c := l.fleet[l.rand.IntN(len(l.fleet))]
		l.spare = append(l.spare, c)
		l.Remove(c.UID)
	}
}

// crashAndReturn compares what an engine knew with what the next one reads.
func (l *life) crashAndReturn() {
	for _, c := range l.calls {
		c.cancel()
		c.end()
	}
	l.list() // what is under way is kept
	before := l.Kept()
	held := idsOf(l.list())
	l.crash(oneOf(l, time.Duration(0), time.Hour, -time.Hour))
	l.Sync(l.olderView())
	l.check()
	l.same("what is held, as an older view tells it", held, idsOf(l.list()))
	l.Sync(l.fleet)
	l.same("what is kept", before, l.Kept())
}

// olderView is the fleet as it may have been a while ago.
func (l *life) olderView() []lease.Candidate {
	var view []lease.Candidate
	behind := oneOf(l, 0, 30, 100)
	for _, c := range l.fleet {
		past, ok := l.past[c.UID]
		switch {
		case !l.chance(behind):
			view = append(view, c)
		case ok:
			view = append(view, past)
		}
	}
	return view
}
