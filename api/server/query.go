package server

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

// checkQuery refuses what url.URL.Query leaves out: a filter that is dropped answers
// more than was asked for.
func checkQuery(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery == "" {
			next.ServeHTTP(w, r)
			return
		}
		if _, err := url.ParseQuery(r.URL.RawQuery); err != nil {
			refuse(w, r, http.StatusBadRequest, "invalid_query",
				"the query cannot be read: "+err.Error()+": join parameters with & and write other special characters as %XX")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// noParameters is the check of a route whose query must be empty.
func noParameters(query url.Values, route string) error {
	for _, k := range slices.Sorted(maps.Keys(query)) {
		return badRequest("invalid_query", "unknown parameter %q: %s takes none", k, route)
	}
	return nil
}

// filter is the query of a list of proxies.
type filter struct {
	attributes map[string]string
	healthy    *bool
}

func (f filter) matches(p *crawl.Proxy) bool {
	for k, v := range f.attributes {
		if have, ok := p.Spec.Attributes[k]; !ok || have != v {
			return false
		}
	}
	return f.healthy == nil || *f.healthy == p.Status.IsTrue(crawl.ConditionHealthy)
}

func parseFilter(query url.Values) (filter, error) {
	f := filter{attributes: map[string]string{}}
	for _, k := range slices.Sorted(maps.Keys(query)) {
		values := query[k]
		if len(values) > 1 {
			return f, badRequest("invalid_query", "%s is given %d times", k, len(values))
		}
		attribute, isAttribute := strings.CutPrefix(k, "attr.")
		switch {
		case isAttribute && attribute == "":
			return f, badRequest("invalid_query", "attr. lacks the name of an attribute, such as attr.region=eu")
		case isAttribute:
			f.attributes[attribute] = values[0]
		case k == "healthy" && (values[0] == "true" || values[0] == "false"):
			healthy := values[0] == "true"
			f.healthy = &healthy
		case k == "healthy":
			return f, badRequest("invalid_query", "healthy must be true or false")
		default:
			return f, badRequest("invalid_query", "unknown parameter %q: use attr.<name>=<value> and healthy=true", k)
		}
	}
	return f, nil
}
