package proxy

import (
	"time"

	"example.com/fairlead/temporal/wire"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world builds a state and a claim; it starts as a new object of provider p with
// one place.
type world struct {
	state State
	claim wire.Claim
}

func aProxy() *world {
	return &world{
		state: State{Version: Version, ClusterID: "c1"},
		claim: wire.Claim{ClusterID: "c1", Generation: 1, Inputs: "in1", Provider: "p", Places: []string{""}, Hash: "v1:aa", InstanceName: "proxy-x"},
	}
}

func (w *world) with(change func(*State, *wire.Claim)) *world {
	change(&w.state, &w.claim)
	return w
}

// having puts an instance into the ledger that the provider last saw in state.
func (w *world) having(state string, change ...func(*Record)) *world {
	r := Record{
		Entry: wire.Entry{Provider: "p", Name: "proxy-x", Incarnation: 1, Hash: "v1:aa"},
		Seen:  wire.Instance{State: state, ProviderID: "id", Host: "127.64.0.1", Port: 3128},
	}
	for _, c := range change {
		c(&r)
	}
	w.state.Ledger = append(w.state.Ledger, r)
	return w
}

func (w *world) healthy(h bool) *world {
	verdict := map[bool]string{true: "healthy", false: "dead"}[h]
	w.state.Health = &wire.Health{Incarnation: 1, Healthy: h, Verdict: verdict, LatencyMillis: 7, ProbedAt: now}
	return w
}

// published makes the stored status what the plan would publish.
func (w *world) published() *world {
	if s := Next(w.state, w.claim, now); s.Kind == Publish {
		w.state.Stored = s.Status
	}
	return w
}

func external() *world {
	return aProxy().with(func(_ *State, c *wire.Claim) {
		c.External, c.Provider, c.Places, c.Hash = true, "", nil, ""
		c.Endpoint = &wire.Endpoint{Host: "10.0.0.9", Port: 8080}
	})
}
