package server

import (
	"bufio"
	"fmt"
	"strings"

	addons "example.com/fairlead/api/addons/v1alpha1"
)

// writeText writes the plan of a for people: what it would do in all, then each object with
// its diff, the hooks, and how to approve it.
func (p *Plan) writeText(out *bufio.Writer, a *addons.Addon) error {
	_, _ = fmt.Fprintf(out, "add-on %s is %s\nplan %s: %s\n", a.Name, phaseOf(a), p.Hash, p.Counts)
	for i := range p.Items {
		p.Items[i].writeText(out)
	}
	if len(p.Hooks) > 0 {
		_, _ = fmt.Fprintln(out, "\nhooks that would run:")
	}
	for _, h := range p.Hooks {
		_, _ = fmt.Fprintf(out, "  %s %s, weight %d\n", strings.Join(h.Events, ","), nameOf(h.ObjectRef), h.Weight)
	}
	last := fmt.Sprintf("approve it with: fairlead addon sync %s --plan %s", a.Name, p.Hash)
	if a.Status.Phase == addons.PhaseBlocked {
		last = "it is Blocked, as the first line says: an approval does not change that"
	}
	_, err := fmt.Fprintf(out, "\n%s\n", last)
	return err // it is that of the first write that failed
}

func (i *PlanItem) writeText(out *bufio.Writer) {
	if i.Action == "unchanged" && i.Blocked == "" && !i.Adopts {
		return
	}
	_, _ = fmt.Fprintf(out, "\n%s %s\n", i.Action, nameOf(i.ObjectRef))
	for _, remark := range []struct{ word, text string }{
		{"blocked", i.Blocked},
		{"unverified", i.Unverified},
		{"cannot be changed in place", strings.Join(i.Immutable, ", ")},
		{"held by", i.Owner},
		{"note", i.Note},
	} {
		if remark.text != "" {
			_, _ = fmt.Fprintf(out, "  %s: %s\n", remark.word, remark.text)
		}
	}
	if i.Adopts {
		_, _ = fmt.Fprintln(out, "  it exists already, and becomes the add-on's")
	}
	if i.Diff != "" {
		_, _ = fmt.Fprintln(out, strings.TrimSuffix(i.Diff, "\n"))
	}
}

// nameOf is an object for people, as Deployment.apps shop/web.
func nameOf(o addons.ObjectRef) string {
	kind, name := o.Kind, o.Name
	if o.Group != "" {
		kind += "." + o.Group
	}
	if o.Namespace != "" {
		name = o.Namespace + "/" + name
	}
	return kind + " " + name
}

// String names the numbers that are not 0.
func (c PlanCounts) String() string {
	var parts []string
	for _, n := range []struct {
		count int
		what  string
	}{
		{c.Create, "to create"}, {c.Update, "to update"}, {c.Replace, "to replace"}, {c.Prune, "to prune"},
		{c.Keep, "kept"}, {c.Unchanged, "unchanged"}, {c.Unverified, "unverified"}, {c.Blocked, "blocked"},
	} {
		if n.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n.count, n.what))
		}
	}
	if len(parts) == 0 {
		return "no objects"
	}
	return strings.Join(parts, ", ")
}
