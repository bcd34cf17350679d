package server

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"example.com/fairlead/api/lease"
)

func (b acquireRequest) validate() error {
	for _, k := range slices.Sorted(maps.Keys(b.Selector)) {
		field := fmt.Sprintf("selector[%q]", k)
		switch {
		case k == "":
			return badRequest("invalid_selector", "selector has an attribute without a name")
		case strings.HasPrefix(k, "attr."):
			return badRequest("invalid_selector", "%s: name the attribute alone, attr. is for queries of GET /v1/proxies", field)
		}
		if err := checkName("the name of "+field, k); err != nil {
			return err
		}
		if len(b.Selector[k]) > maxName {
			return badRequest("invalid_selector", "%s is longer than %d bytes", field, maxName)
		}
	}
	return checkName("target", b.Target)
}

func (b reportRequest) validate() error {
	if !b.Result.Valid() {
		return badRequest("invalid_result", "result must be one of %s, %s and %s", lease.ResultOK, lease.ResultRateLimited, lease.ResultBanned)
	}
	return checkName("target", b.Target)
}

// ttl refuses what is too long instead of cutting it: a client that asks for a week
// should find out.
func (s *server) ttl(seconds *int64, fallback time.Duration) (time.Duration, error) {
	if seconds == nil {
		return fallback, nil
	}
	longest := int64(s.MaxLeaseTTL / time.Second)
	if *seconds < 1 || *seconds > longest {
		return 0, badRequest("invalid_ttl", "ttlSeconds must be between 1 and %d", longest)
	}
	return time.Duration(*seconds) * time.Second, nil
}

// normal is the one spelling of a target: host names have no case.
func normal(target string) string { return strings.ToLower(target) }

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
