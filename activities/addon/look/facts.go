package look

import (
	"fmt"
	"strings"

	"example.com/fairlead/activities/addon/kept"
	"example.com/fairlead/activities/addon/mask"
	"example.com/fairlead/activities/addon/plan"
	"example.com/fairlead/activities/addon/source"
	"example.com/fairlead/internal/text"
)

const (
	// maxSummary and maxReason are how many bytes such texts may have.
	maxSummary, maxReason = 512, 1 << 10
	// massPrune is how many objects a removal has at least that is called a mass removal.
	massPrune = 3
)

// Facts are what is to be known of a plan before it is done.
type Facts struct {
	// Writes is how many objects a sync would write or delete.
	Writes int
	// Summary names the first of them.
	Summary string
	// Blocked says what must not be done, and the remedy; empty for nothing.
	Blocked string
	// Adopts says what an adoption would change; empty for nothing.
	Adopts string
	// Mass says that a sync would delete suspiciously much; empty if not.
	Mass string
	// Warning is for people.
	Warning string
}

func factsOf(p *plan.Plan, previous kept.Inventory, made source.Rendered, secrets mask.Mask) Facts {
	var writes, blocked, adopts, prunes []string
	for _, item := range p.Items {
		if word := written(item); word != "" {
			writes = append(writes, word+" "+item.ID.String())
		}
		if item.Blocked != "" {
			blocked = append(blocked, fmt.Sprintf("%s: %s", item.ID, secrets.Leaf(item.Blocked)))
		}
		if item.Adopts && (item.Action == plan.Update || item.Action == plan.Replace) {
			adopts = append(adopts, item.ID.String())
		}
		if item.Action == plan.Prune {
			prunes = append(prunes, item.ID.String())
		}
	}
	f := Facts{Writes: len(writes), Summary: some(writes, ", ", maxSummary)}
	if len(prunes) > 0 && made.Partial != "" {
		blocked = append(blocked, fmt.Sprintf("%d objects would be deleted, as %s, and whether the source still has them cannot be known while %s: mend that API, or remove it",
			len(prunes), prunes[0], secrets.Leaf(made.Partial)))
	}
	f.Blocked = some(blocked, "; ", maxReason)
	if len(adopts) > 0 {
		const remedy = ": set allowAdoptChanges, or change the values until nothing differs"
		f.Adopts = "taking over changes " + some(adopts, ", ", maxSummary) + remedy
	}
	f.Mass = mass(len(prunes), previous)
	f.Warning = text.Head(secrets.Leaf(warning(made)), maxReason, "…")
	return f
}

// written is what is to be done with an object, in a word; empty for nothing.
func written(item plan.Item) string {
	switch {
	case item.Action == plan.Keep:
		return ""
	case item.Action != plan.Unchanged:
		return string(item.Action)
	case item.Unmarked && item.Blocked == "":
		return "mark"
	}
	return ""
}

// mass says that so many of an inventory are more than half of what could be deleted.
func mass(prunes int, previous kept.Inventory) string {
	prunable := 0
	for _, o := range previous {
		if !plan.NeverDeleted(o.ID.GroupKind) {
			prunable++
		}
	}
	if prunes < massPrune || 2*prunes <= prunable {
		return ""
	}
	return fmt.Sprintf("a sync would delete %d of %d objects: approve the plan if that is meant, or mend the source", prunes, prunable)
}

func warning(made source.Rendered) string {
	if made.Warning == "" || made.Partial == "" {
		return made.Warning + made.Partial
	}
	return made.Warning + "; " + made.Partial
}

// some are as many of parts as have room, and how many more there are.
func some(parts []string, between string, most int) string {
	var b strings.Builder
	for i, part := range parts {
		rest := fmt.Sprintf(" and %d more", len(parts)-i)
		if i > 0 && b.Len()+len(between)+len(part)+len(rest) > most {
			return b.String() + rest
		}
		if i > 0 {
			b.WriteString(between)
		}
		b.WriteString(text.Head(part, most-2*len(rest), "…"))
	}
	return b.String()
}
