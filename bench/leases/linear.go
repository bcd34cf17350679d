package main

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"example.com/fairlead/bench/internal/dice"
)

const (
	// eraBlows is how many blows a set of recorded proxies lives through: each leaves
	// operations of which the end is not known, and what those may have done multiplies.
	eraBlows = 5
	// eraProxies are recorded at a time, by so many clients.
	eraProxies = 3
	recorders  = 5
	// longTTL keeps time out of it.
	longTTL = 3600
	// checkTimeout bounds the search for an order of one era.
	checkTimeout = 2 * time.Minute
)

// record is the history of all recorded operations. It is safe for concurrent use.
type record struct {
	mu  sync.Mutex
	era int
	ops []porcupine.Operation
	// ids are the latest of each proxy, for clients to choose from.
	ids map[string][]string
}

func newRecord() *record { return &record{ids: map[string][]string{}} }

func (h *record) add(client int, i input, o output, s span) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: i, Output: o, Call: int64(s.sent), Return: int64(s.got)})
	const most = 3
	if o.id != "" && !slices.Contains(h.ids[i.proxy], o.id) {
		h.ids[i.proxy] = append(h.ids[i.proxy], o.id)
		h.ids[i.proxy] = h.ids[i.proxy][max(0, len(h.ids[i.proxy])-most):]
	}
}

func (h *record) currentEra() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.era
}

// anyID is one of the latest leases of a proxy; empty if there was none.
func (h *record) anyID(proxy string, d *dice.Dice) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	ids := h.ids[proxy]
	if len(ids) == 0 {
		return ""
	}
	return ids[d.Below(len(ids))]
}

// nextEra has the clients go on to other proxies.
func (h *record) nextEra() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.era++
}

// check looks whether the operations can have been done one at a time, each between its
// call and its return. What cannot is drawn into a page in dir.
func (h *record) check(dir string) (operations int, v *violation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, ops := range partition(h.ops) {
		i, _ := ops[0].Input.(input)
		switch porcupine.CheckOperationsTimeout(fleetModel(), ops, checkTimeout) {
		case porcupine.Illegal:
			return len(h.ops), breaks(notLinear, "the %d recorded operations on %s fit no order: %s", len(ops), i.proxy, drawn(ops, filepath.Join(dir, i.proxy+".html")))
		case porcupine.Unknown:
			return len(h.ops), breaks(notLinear, "no order of the %d recorded operations on %s was found within %s, nor that there is none", len(ops), i.proxy, checkTimeout)
		}
	}
	return len(h.ops), nil
}

// drawn says where a page with the operations is.
func drawn(ops []porcupine.Operation, page string) string {
	_, info := porcupine.CheckOperationsVerbose(fleetModel(), ops, checkTimeout)
	if err := porcupine.VisualizePath(fleetModel(), info, page); err != nil {
		return err.Error()
	}
	return "look at " + page
}

// recorder is a client whose operations are recorded. It knows no more of leases than their ids.
type recorder struct {
	*caller
	*phase

	number int
	dice   *dice.Dice
}

func (p *phase) newRecorder(i int) *recorder {
	return &recorder{caller: p.newCaller(nameRecorder), phase: p, number: i, dice: dice.New(p.seed, p.name, "recorder", i)}
}

var deeds = []struct {
	weight int
	deed   deed
}{{40, deedAcquire}, {30, deedRelease}, {20, deedRenew}, {10, deedList}}

// work records until ctx ends.
func (c *recorder) work(ctx context.Context) *violation {
	for linger(ctx, c.dice.Between(5*time.Millisecond, 60*time.Millisecond)) == nil {
		i := input{proxy: recordedProxy(c.record.currentEra(), c.dice.Below(eraProxies))}
		i.deed = deeds[c.dice.Side(len(deeds), func(i int) int { return deeds[i].weight })].deed
		if i.deed == deedRelease || i.deed == deedRenew {
			if i.id = c.record.anyID(i.proxy, c.dice); i.id == "" {
				continue
			}
		}
		r := c.send(ctx, c.request(i))
		o, wrong := outcome(i, r)
		switch {
		case wrong != nil && ctx.Err() == nil:
			return wrong
		case r.void, o.unknown && (i.deed == deedRenew || i.deed == deedList):
			continue // nothing was done, or it changes nothing
		}
		c.record.add(c.number, i, o, r.span)
	}
	return nil
}

func (c *recorder) request(i input) request {
	switch i.deed {
	case deedAcquire:
		return acquisition(acquireBody{Selector: map[string]string{attrOnly: i.proxy}, TTLSeconds: longTTL}, "")
	case deedRelease:
		return request{method: http.MethodDelete, path: "/v1/leases/" + i.id}
	case deedRenew:
		return request{method: http.MethodPost, path: "/v1/leases/" + i.id + "/renew", body: renewBody{}}
	}
	return request{method: http.MethodGet, path: "/v1/leases"}
}

// outcome reads a reply.
func outcome(i input, r reply) (output, *violation) {
	if !r.known() {
		return output{unknown: true}, nil
	}
	switch i.deed {
	case deedAcquire:
		var one leaseAnswer
		if r.is(http.StatusCreated) && r.decode(&one) == nil && one.Proxy.Name == i.proxy {
			return output{id: one.LeaseID}, nil
		}
	case deedList:
		if r.is(http.StatusOK) {
			return listedOf(i.proxy, r)
		}
	}
	for _, a := range plainAnswers {
		if a.deed == i.deed && a.status == r.status && a.word == r.word {
			return output{alive: a.alive}, nil
		}
	}
	return output{}, breaks(broken, "%s of %s was answered with %s", i.deed, i.proxy, r)
}

// plainAnswers are those that say no more than this.
var plainAnswers = []struct {
	deed   deed
	status int
	word   string
	alive  bool
}{
	{deedAcquire, http.StatusConflict, "no_match", false},
	{deedRelease, http.StatusNoContent, "", false},
	{deedRenew, http.StatusOK, "", true},
	{deedRenew, http.StatusNotFound, "unknown_lease", false},
}

func listedOf(proxy string, r reply) (o output, v *violation) {
	var all listAnswer
	if err := r.decode(&all); err != nil {
		return o, breaks(broken, "a list of leases was answered with %s", r)
	}
	for _, l := range all.Leases {
		if l.Proxy.Name != proxy {
			continue
		}
		if o.id != "" {
			return o, breaks(grantedTwice, "%s may have one lease, and %s and %s are listed: %s", proxy, o.id, l.LeaseID, r)
		}
		o.id = l.LeaseID
	}
	return o, nil
}
