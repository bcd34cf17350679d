package server

import (
	"fmt"
	"strings"
	"time"

	"example.com/fairlead/api/lease"
)

func (b acquireRequest) validate() error {
	for name, value := range b.Selector {
		if err := checkAttribute(name, value); err != nil {
			return err
		}
	}
	return firstOf(b.validateNumbers(), checkName("session", b.Session))
}

func checkAttribute(name, value string) error {
	switch {
	case name == "":
		return badRequest("invalid_selector", "selector has an attribute without a name")
	case strings.HasPrefix(name, "attr."):
		return badRequest("invalid_selector", "selector[%q]: name the attribute alone, attr. is for queries of GET /v1/proxies", name)
	case len(value) > maxName:
		return badRequest("invalid_selector", "selector[%q] is longer than %d bytes", name, maxName)
	case checkName("", name) != nil:
		return checkName(fmt.Sprintf("the name of selector[%q]", name), name)
	}
	return nil
}

const (
	maxWait  = time.Minute
	maxCount = 100
	// maxKey is the longest Idempotency-Key.
	maxKey = 255
	// maxRest is the longest cooldown that somebody asks for, in seconds.
	maxRest = 24 * 60 * 60
)

func (b acquireRequest) validateNumbers() error {
	return firstOf(
		b.validateCount(),
		within("waitSeconds", b.WaitSeconds, 0, int(maxWait/time.Second)),
		within("priority", b.Priority, 0, lease.MaxPriority),
	)
}

func (b acquireRequest) validateCount() error {
	switch {
	case b.Count == nil && b.AtLeast == nil:
		return nil
	case b.Count == nil:
		return badRequest("invalid_body", "atLeast says how many of count are enough: give count too")
	case b.Session != "" && *b.Count > 1:
		return badRequest("invalid_body", "a session has one proxy: leave count out, or session")
	case b.AtLeast != nil && (*b.AtLeast < 1 || *b.AtLeast > *b.Count):
		return badRequest("invalid_body", "atLeast must be between 1 and count, which is %d", *b.Count)
	}
	return within("count", *b.Count, 1, maxCount)
}

func within(field string, n, least, most int) error {
	if n < least || n > most {
		return badRequest("invalid_body", "%s must be between %d and %d", field, least, most)
	}
	return nil
}

func (b reportRequest) validate() error {
	switch {
	case !b.Result.Valid():
		return badRequest("invalid_result", "result must be one of %s, %s and %s", lease.ResultOK, lease.ResultRateLimited, lease.ResultBanned)
	case b.RetryAfterSeconds == nil:
	case b.Result != lease.ResultRateLimited:
		return badRequest("invalid_body", "retryAfterSeconds goes with the result %s only", lease.ResultRateLimited)
	case *b.RetryAfterSeconds < 1 || *b.RetryAfterSeconds > maxRest:
		return badRequest("invalid_body", "retryAfterSeconds must be between 1 and %d", maxRest)
	}
	return nil
}

// checkKey refuses an Idempotency-Key that is none.
func checkKey(key string) error {
	if key == "" || len(key) > maxKey || strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }) {
		return badRequest("invalid_key", "%s must have 1 to %d printable ASCII characters", keyHeader, maxKey)
	}
	return nil
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

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
