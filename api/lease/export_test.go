package lease

import (
	"fmt"
	"strings"
)

// Kept is all of e that its journal should have, as it would be kept now.
func (e *Engine) Kept() map[string]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.settle()
	kept := map[string]string{}
	add := func(c Change) {
		if c.Value != nil {
			kept[string(c.Kind)+" "+strings.ToValidUTF8(c.Key, "?")] = fmt.Sprintf("%q", c.Value)
		}
	}
	for _, r := range e.leases {
		add(r.change())
	}
	for _, s := range e.sessions {
		add(s.change())
	}
	for _, p := range e.fleet.proxies {
		add(p.bansChange())
		for _, c := range p.cooldowns {
			add(c.change())
		}
	}
	for _, c := range e.clients {
		for key, k := range c.keys {
			if k.waiting == 0 {
				kept["k "+k.client+" "+key] = fmt.Sprintf("%s %s %v %d", k.fingerprint, k.moved, k.forgetAt, len(k.records))
			}
		}
	}
	return kept
}

// Loads are the leases and reserved slots by UID.
func (e *Engine) Loads() map[string]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	loads := map[string]int{}
	for uid, p := range e.fleet.proxies {
		loads[uid] = p.load()
	}
	return loads
}

// Told says whether a request was repeated by its key.
func (e *Engine) Told(client, key string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	k := e.client(client).keys[key]
	return k != nil && k.told
}
