package render

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
)

// ErrMissing is of a chart that does not have all charts that it depends on.
var ErrMissing = errors.New("dependencies are missing in the charts folder (`helm dependency build` gets them)")

// parse makes a chart of its own for one render.
func (s *Source) parse() (*chart.Chart, error) {
	c, err := loader.LoadFiles(s.files)
	if err != nil {
		return nil, fmt.Errorf("parse the chart: %w", err)
	}
	sortSubcharts(c)
	if t := c.Metadata.Type; t != "" && t != "application" {
		return nil, fmt.Errorf("chart %s is of type %s, which cannot be installed: name a chart that uses it", c.Name(), t)
	}
	// Helm wants those that will be disabled too.
	return c, missing(c, c.Metadata.Dependencies)
}

// sortSubcharts gives subcharts one order: Helm's loader has them in a random one, in which
// the CRDs of undeclared ones are printed.
func sortSubcharts(c *chart.Chart) {
	slices.SortStableFunc(c.Dependencies(), func(a, b *chart.Chart) int {
		return cmp.Or(cmp.Compare(a.Name(), b.Name()), cmp.Compare(a.Metadata.Version, b.Metadata.Version))
	})
	for _, sub := range c.Dependencies() {
		sortSubcharts(sub)
	}
}

// missingBelow is missing for all that is enabled, once that is known. Helm looks at the
// first level only, and renders the chart without what is missing below.
func missingBelow(c *chart.Chart) error {
	if err := missing(c, c.Metadata.Dependencies); err != nil {
		return err
	}
	for _, sub := range c.Dependencies() {
		if err := missingBelow(sub); err != nil {
			return err
		}
	}
	return nil
}

// missing names what c depends on and does not have in the wanted version. Helm takes any
// version for present, and then ignores what is said of the dependency.
func missing(c *chart.Chart, wanted []*chart.Dependency) error {
	var names []string
	for _, d := range wanted {
		if d != nil && !slices.ContainsFunc(c.Dependencies(), func(have *chart.Chart) bool { return satisfies(have, d) }) {
			names = append(names, strings.TrimSpace(d.Name+" "+d.Version))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("chart %s: %w: %s", c.ChartFullPath(), ErrMissing, strings.Join(names, ", "))
}

func satisfies(have *chart.Chart, d *chart.Dependency) bool {
	return have.Name() == d.Name && (d.Version == "" || chartutil.IsCompatibleRange(d.Version, have.Metadata.Version))
}
