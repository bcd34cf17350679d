package proxy

import (
	"fmt"
	"strings"

	"go.temporal.io/sdk/workflow"

	"example.com/fairlead/temporal/wire"
)

// index makes the status searchable in the Temporal UI.
func (r *run) index(ctx workflow.Context, status wire.ProxyStatus) error {
	reason, healthy := "", false
	if c := condition(status.Conditions, wire.ConditionReady); c != nil {
		reason = c.Reason
	}
	if c := condition(status.Conditions, wire.ConditionHealthy); c != nil {
		healthy = c.Status == wire.True
	}
	provider := ""
	if n := newest(status.Ledger); n != nil {
		provider = n.Provider
	}
	return workflow.UpsertTypedSearchAttributes(ctx,
		wire.KeyProxyPhase.ValueSet(status.Phase),
		wire.KeyProvider.ValueSet(provider),
		wire.KeyReason.ValueSet(reason),
		wire.KeyHealthy.ValueSet(healthy))
}

// tell keeps the current details, what a person sees first in the Temporal UI.
func (r *run) tell(ctx workflow.Context, next Step) {
	st := r.state.Stored
	var b strings.Builder
	row := func(k, v string) {
		if v != "" {
			fmt.Fprintf(&b, "| %s | %s |\n", k, strings.NewReplacer("|", `\|`, "\n", " ").Replace(v))
		}
	}
	b.WriteString("| Proxy | " + r.proxy.String() + " |\n|---|---|\n")
	row("phase", st.Phase)
	if n := newest(st.Ledger); n != nil {
		row("instance", n.Name+" on "+where(*n))
	}
	if st.Host != "" {
		row("address", fmt.Sprintf("%s:%d", st.Host, st.Port))
	}
	if c := condition(st.Conditions, wire.ConditionReady); c != nil {
		row("reason", strings.TrimSuffix(c.Reason+": "+c.Message, ": "))
	}
	if t := r.state.Trouble; t != nil {
		row("last error", t.Type+": "+t.Message)
	}
	row("next", nextWords(next))
	workflow.SetCurrentDetails(ctx, b.String())
}

func nextWords(s Step) string {
	switch s.Kind {
	case Park:
		return "nothing until something changes"
	case Publish:
		return "publish " + headline(s.Status)
	case Count:
		return "ask the api how often the address was banned"
	case Condemn:
		return "ask for another address"
	}
	if verb, ok := stepVerbs[s.Kind]; ok {
		return verb + " " + s.Entry.Name
	}
	return strings.ToLower(string(s.Kind))
}

// headline is a status in a few words.
func headline(st wire.ProxyStatus) string {
	c := condition(st.Conditions, wire.ConditionReady)
	if c == nil || c.Reason == st.Phase {
		return "status " + st.Phase
	}
	return "status " + st.Phase + " (" + c.Reason + ")"
}
