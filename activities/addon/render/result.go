package render

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/release"

	"example.com/fairlead/activities/addon/mask"
)

// Result is a rendered chart.
type Result struct {
	// Name and Version of the chart.
	Name, Version string
	// Answers are what templates looked up, to be kept with the render.
	Answers []Answer

	crds, documents []document
	hooks           []*release.Hook
	secrets         mask.Mask
}

// document is one of the documents that a file was split into; of the crds folder, the file.
type document struct {
	source, text string
}

// Text is what `helm template --include-crds` prints, with --no-hooks or without. With hooks,
// those of tests are in it too.
func (r *Result) Text(withHooks bool) string {
	var b strings.Builder
	for _, d := range slices.Concat(r.crds, r.documents) {
		_, _ = fmt.Fprintf(&b, "---\n# Source: %s\n%s\n", d.source, d.text)
	}
	text := strings.TrimSpace(b.String()) + "\n"
	if !withHooks {
		return text
	}
	b.Reset()
	for _, h := range r.hooks {
		_, _ = fmt.Fprintf(&b, "---\n# Source: %s\n%s\n", h.Path, h.Manifest)
	}
	return text + b.String()
}

func (r *Result) contains(pattern *regexp.Regexp) bool {
	return slices.ContainsFunc(r.documents, func(d document) bool { return pattern.MatchString(d.text) }) ||
		slices.ContainsFunc(r.hooks, func(h *release.Hook) bool { return pattern.MatchString(h.Manifest) })
}
