package charts

import (
	"cmp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"example.com/fairlead/activities/fetch"
)

var errNoChart = fetch.Permanent("the repository has no such chart: check its name")

// pick chooses among versions as Helm does, and returns the index of one: the exact
// one, with or without its v, or else the highest that the range allows. Ranges allow
// pre-releases only if they name one.
func pick(versions []string, want string) (int, error) {
	for _, same := range []func(a, b string) bool{sameText, sameButV} {
		if i := slices.IndexFunc(versions, func(v string) bool { return want != "" && same(v, want) }); i >= 0 {
			return i, nil
		}
	}
	allowed, err := semver.NewConstraint(cmp.Or(want, "*"))
	if err != nil {
		return 0, fetch.Permanent("the version %q is neither one of the repository nor a range: it has %s", want, newest(versions))
	}
	best, found := highest(versions, allowed.Check)
	if !found && want == "" {
		return 0, fetch.Permanent("all versions are pre-releases: say which one, it has %s", newest(versions))
	}
	if !found {
		return 0, fetch.Permanent("no version is %q: it has %s", want, newest(versions))
	}
	return best, nil
}

func sameText(a, b string) bool { return a == b }

func sameButV(a, b string) bool { return strings.TrimPrefix(a, "v") == strings.TrimPrefix(b, "v") }

// highest of the versions that are allowed; of equal ones, the first.
func highest(versions []string, allowed func(*semver.Version) bool) (best int, found bool) {
	var top *semver.Version
	for i, text := range versions {
		v, err := semver.NewVersion(text)
		if err != nil || !allowed(v) || top != nil && !v.GreaterThan(top) {
			continue
		}
		best, top = i, v
	}
	return best, top != nil
}

// newest names a few versions, for who looks for another.
func newest(versions []string) string {
	const few = 5
	versions = slices.Clone(versions)
	var names []string
	for len(names) < few {
		i, found := highest(versions, func(*semver.Version) bool { return true })
		if !found {
			break
		}
		names = append(names, versions[i])
		versions = slices.Delete(versions, i, i+1)
	}
	switch {
	case len(names) == 0:
		return "none"
	case len(versions) > 0:
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}
