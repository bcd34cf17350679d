package addon

import (
	"fmt"
	"strings"

	"go.temporal.io/sdk/workflow"

	"example.com/fairlead/temporal/wire"
)

// index makes the status searchable in the Temporal UI.
func (r *run) index(ctx workflow.Context, status wire.AddonStatus) error {
	return workflow.UpsertTypedSearchAttributes(ctx,
		wire.KeyAddonPhase.ValueSet(status.Phase),
		wire.KeyHealthy.ValueSet(status.Health.Status == wire.Healthy))
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
	b.WriteString("| Add-on | " + r.addon.String() + " |\n|---|---|\n")
	row("phase", st.Phase)
	row("revision", st.Revision)
	row("message", st.Message)
	row("plan", planWords(st))
	row("health", strings.TrimSuffix(st.Health.Status+": "+st.Health.Message, ": "))
	if f := r.state.Failure; f != nil {
		row("last error", f.Message)
	}
	row("next", r.nextWords(next))
	workflow.SetCurrentDetails(ctx, b.String())
}

// planWords are what a sync would do.
func planWords(st wire.AddonStatus) string {
	if st.PlanHash == "" {
		return ""
	}
	c := st.Counts
	return fmt.Sprintf("%d to create, %d to update, %d to replace, %d to prune, %d unchanged (%s)", c.Create, c.Update, c.Replace, c.Prune, c.Unchanged, st.PlanHash)
}

func (r *run) nextWords(s Step) string {
	switch s.Kind {
	case Park:
		if f := r.state.Failure; f != nil {
			return "another try at " + f.Until.UTC().Format("15:04:05") + " UTC, or when something changes"
		}
		return "nothing until something changes"
	case Publish:
		return "publish " + headline(s.Status)
	case Apply:
		return applyWords[s.Part]
	case Hook:
		return "the " + s.Hook.Event + " hook " + s.Hook.Kind + " " + s.Hook.Name
	}
	return strings.ToLower(string(s.Kind))
}

// headline is a status in a few words.
func headline(st wire.AddonStatus) string {
	return strings.TrimSuffix("status "+st.Phase+": "+short(st.Message), ": ")
}

// maxHeadline bounds a message in the summary of an activity, in runes.
const maxHeadline = 120

func short(message string) string {
	if runes := []rune(message); len(runes) > maxHeadline {
		return string(runes[:maxHeadline]) + "…"
	}
	return message
}
