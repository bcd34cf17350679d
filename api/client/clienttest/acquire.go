package clienttest

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"time"
)

func (a *API) acquire(w http.ResponseWriter, r *http.Request) (int, any, error) {
	text, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(text))
	var b acquireBody
	err := decode(r, &b)
	if err == nil {
		err = a.check(b, r)
	}
	if err != nil {
		return 0, nil, err
	}
	known, err := a.remember(r.Header.Get("Idempotency-Key"), string(text))
	if err != nil {
		return 0, nil, err
	}
	if known.leases == nil {
		known.leases = a.wait(r, b)
		a.Edit(func() { known.waiting = false })
	} else {
		w.Header().Set("Idempotency-Replayed", "true")
	}
	if known.leases == nil {
		a.forget(r.Header.Get("Idempotency-Key"))
		return a.noMatch(w, b)
	}
	told := []map[string]any{}
	for _, l := range known.leases {
		told = append(told, l.told())
	}
	if b.Count == nil {
		return http.StatusCreated, told[0], nil
	}
	return http.StatusCreated, map[string]any{"leases": told, "count": len(told)}, nil
}

// remember returns what is known of a key.
func (a *API) remember(key, body string) (*remembered, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.keys[key]
	switch {
	case known == nil || key == "":
		known = &remembered{body: body, waiting: true}
		a.keys[key] = known
	case known.body != body:
		return nil, &problem{http.StatusUnprocessableEntity, "key_reused", "the key was used for another request"}
	case known.waiting:
		return nil, &problem{http.StatusConflict, "key_in_use", "a request with the same key waits"}
	}
	return known, nil
}

// forget a key that was refused.
func (a *API) forget(key string) { a.Edit(func() { delete(a.keys, key) }) }

// wait returns leases, or nil when the wait is over or nobody waits any more.
func (a *API) wait(r *http.Request, b acquireBody) []*lease {
	over := time.NewTimer(time.Duration(b.WaitSeconds) * time.Second)
	defer over.Stop()
	for {
		a.mu.Lock()
		leases, changed := a.grant(b), a.changed
		a.mu.Unlock()
		if leases != nil || b.WaitSeconds == 0 {
			return leases
		}
		select {
		case <-changed:
		case <-over.C:
			return nil
		case <-r.Context().Done():
			return nil
		}
	}
}

// grant lends as many as are asked for, or none.
func (a *API) grant(b acquireBody) []*lease {
	free := a.free(b.Selector)
	count, atLeast := b.counts()
	if len(free) < atLeast {
		return nil
	}
	ttl := a.MaxTTL
	if b.TTLSeconds != nil {
		ttl = *b.TTLSeconds
	}
	var leases []*lease
	for _, p := range free[:min(count, len(free))] {
		a.granted++
		now := time.Now()
		l := &lease{ID: fmt.Sprintf("lease-%03d", a.granted), proxy: p, body: b, granted: now, expires: now.Add(time.Duration(ttl) * time.Second), ttl: ttl}
		a.leases[l.ID] = l
		leases = append(leases, l)
	}
	return leases
}

func (a *API) matching(selector map[string]string) []*Proxy {
	var matching []*Proxy
	for _, p := range a.proxies {
		all := maps.Clone(p.Attributes)
		if all == nil {
			all = map[string]string{}
		}
		maps.Copy(all, selector)
		if maps.Equal(all, p.Attributes) || len(selector) == 0 {
			matching = append(matching, p)
		}
	}
	return matching
}

func (a *API) free(selector map[string]string) []*Proxy {
	busy := map[*Proxy]bool{}
	for _, l := range a.sorted() {
		busy[l.proxy] = true
	}
	var free []*Proxy
	for _, p := range a.matching(selector) {
		if !busy[p] && !p.Gone && !p.Unhealthy && !p.Draining {
			free = append(free, p)
		}
	}
	return free
}

func (a *API) noMatch(w http.ResponseWriter, b acquireBody) (int, any, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	considered := len(a.matching(b.Selector))
	w.Header().Set("Retry-After", "7")
	return http.StatusConflict, map[string]any{
		"error": "no_match", "message": "none of the matching proxies can be lent now", "requestID": "request-1",
		"considered": considered, "atCapacity": considered, "inCooldown": 0, "unhealthy": 0, "draining": 0, "unusable": 0,
		"retryAfterSeconds": 7,
	}, nil
}

// told is a lease as its holder is told.
func (l *lease) told() map[string]any {
	told := map[string]any{"leaseID": l.ID, "proxy": l.proxy, "expiresAt": l.expires, "ttlSeconds": l.ttl}
	if l.body.Session != "" {
		told["session"] = l.body.Session
	}
	if l.body.Exclusive {
		told["exclusive"] = true
	}
	if l.proxy.Trial {
		told["trial"] = true
	}
	return told
}
