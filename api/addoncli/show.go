package addoncli

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"example.com/fairlead/api/client"
)

// safe is a text without what moves a terminal's cursor or turns its text around: names and
// differences come from whoever may write to the cluster.
func safe(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// line is a text in one safe line, cut.
func line(text string, most int) string {
	runes := []rune(safe(strings.Join(strings.Fields(text), " ")))
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return string(runes)
}

// changes names what the next sync would do, empty if nothing waits.
func changes(c client.AddonCounts) string {
	if c.Hash == "" {
		return ""
	}
	var parts []string
	for _, n := range []struct {
		count int
		what  string
	}{{c.Create, "create"}, {c.Update, "update"}, {c.Replace, "replace"}, {c.Prune, "prune"}} {
		if n.count > 0 {
			parts = append(parts, fmt.Sprintf("%d to %s", n.count, n.what))
		}
	}
	if len(parts) == 0 {
		return "only hooks or marks"
	}
	return strings.Join(parts, ", ")
}

// how an add-on is, and why.
func how(a client.Addon) string {
	phase := a.Phase
	switch {
	case a.Uninstalling:
		phase = "being uninstalled"
	case a.Deleting:
		phase = "being deleted"
	}
	if a.Message == "" {
		return safe(phase)
	}
	return safe(phase + ": " + a.Message)
}

// at is a time for people.
func at(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

const (
	colourOff    = "\x1b[0m"
	colourBold   = "\x1b[1m"
	colourAdded  = "\x1b[32m"
	colourGone   = "\x1b[31m"
	colourWhere  = "\x1b[36m"
	colourDanger = "\x1b[33m"
)

// paint colours the lines of a plan.
func paint(text string) string {
	var out strings.Builder
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		if colour := colourOf(l); colour != "" {
			l = colour + l + colourOff
		}
		out.WriteString(l + "\n")
	}
	return out.String()
}

func colourOf(line string) string {
	first, _, _ := strings.Cut(line, " ")
	switch {
	case first == "---", first == "+++":
		return colourBold
	case first == "@@":
		return colourWhere
	case strings.HasPrefix(line, "+"):
		return colourAdded
	case strings.HasPrefix(line, "-"):
		return colourGone
	case strings.HasPrefix(line, "  blocked:"), strings.HasPrefix(line, "  unverified:"):
		return colourDanger
	}
	switch first {
	case "create", "update", "replace", "prune", "keep", "unchanged":
		return colourBold
	}
	return ""
}
