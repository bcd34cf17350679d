package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/api/lease/desk"
)

// known are the errors whose answer has nothing of its own but, in braces, parameters of the
// route; the first that matches counts. The outcome is what the metric of requests for leases calls it.
var known = []struct {
	err           error
	outcome       string
	code          int
	word, message string
	retry         time.Duration
}{
	{context.Canceled, "cancelled", http.StatusServiceUnavailable, "cancelled", "the client went away", 0},
	{lease.ErrUnknown, "invalid", http.StatusNotFound, "unknown_lease", "there is no lease {id}: it was released, or ended long ago; acquire another one", 0},
	{lease.ErrExpired, "invalid", http.StatusGone, "lease_expired", "the lease ran out before it was renewed: acquire another one, and renew it earlier", 0},
	{lease.ErrProxyGone, "invalid", http.StatusGone, "proxy_gone", "the proxy was deleted or has another address now: acquire another lease", 0},
	{lease.ErrUnknownProxy, "invalid", http.StatusNotFound, "unknown_proxy", "there is no proxy {namespace}/{name}, or it is being deleted: GET /v1/proxies lists them", 0},
	{lease.ErrTooManyTargets, "invalid", http.StatusBadRequest, "too_many_targets", "the lease reported on too many targets: acquire one for each target", 0},
	{lease.ErrKeyReused, "key", http.StatusUnprocessableEntity, "key_reused", "the Idempotency-Key was used for another request: use a new one for each", 0},
	{lease.ErrKeyInUse, "key", http.StatusConflict, "key_in_use", "a request with the same Idempotency-Key waits: wait for its answer", time.Second},
	{lease.ErrTooManyKeys, "key", http.StatusTooManyRequests, "too_many_keys", "as many Idempotency-Keys as are remembered were used lately: use fewer, or release leases earlier", time.Minute},
	{lease.ErrStopped, "unavailable", http.StatusServiceUnavailable, "stopping", "this process ends: try again", time.Second},
	{lease.ErrUnavailable, "unavailable", http.StatusServiceUnavailable, "unavailable", "leases cannot be granted or kept now: try again later; the log of the API tells why", time.Second},
}

// fail answers with what err is to the client; what is none of its business is
// logged.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	var bad *invalid
	var locked *lockedProxy
	var notLeading *desk.NotLeadingError
	switch {
	case errors.As(err, &bad):
		refuse(w, r, bad.code, bad.word, bad.message)
		return
	case errors.As(err, &locked):
		s.Log.ErrorContext(r.Context(), "request failed", "error", err, "requestID", requestID(r.Context()))
		retryAfter(w, time.Second)
		refuse(w, r, http.StatusServiceUnavailable, "credentials_unavailable",
			"the credentials of proxy "+locked.proxy+" cannot be read now: try again later; the log of the API tells more under this request id")
		return
	case errors.As(err, &notLeading):
		noLeader(w, r, "no process lends now: one takes over in a moment, try again")
		return
	case refuseNow(w, r, err):
		return
	}
	for _, k := range known {
		if errors.Is(err, k.err) {
			answer(w, r, k.code, problem{k.word, filled(r, k.message), requestID(r.Context()), retryAfter(w, k.retry)})
			return
		}
	}
	s.Log.ErrorContext(r.Context(), "request failed", "error", err, "requestID", requestID(r.Context()))
	retryAfter(w, time.Second)
	refuse(w, r, http.StatusServiceUnavailable, "unavailable", "this cannot be done now: try again later; the log of the API tells more under this request id")
}

// filled is message with the parameters of the route.
func filled(r *http.Request, message string) string {
	if !strings.Contains(message, "{") {
		return message
	}
	return strings.NewReplacer("{id}", pathPart(r, "id"), "{namespace}", pathPart(r, "namespace"), "{name}", pathPart(r, "name")).Replace(message)
}

// refuseNow answers if err says that a lease cannot be granted now.
func refuseNow(w http.ResponseWriter, r *http.Request, err error) bool {
	var none *lease.NoMatchError
	var budget *lease.BudgetError
	var quota *lease.QuotaError
	switch id := requestID(r.Context()); {
	case errors.As(err, &none):
		var why *refusal
		message := none.Error() + ": try again later or ask for less"
		if errors.As(err, &why) {
			message += why.locked.remedy()
		}
		answer(w, r, http.StatusConflict, noMatch{
			problem:    problem{"no_match", message, id, retryAfter(w, none.RetryAfter)},
			Considered: none.Considered, AtCapacity: none.AtCapacity, InCooldown: none.InCooldown,
			Unhealthy: none.Unhealthy, Draining: none.Draining, Unusable: none.Unusable,
		})
	case errors.As(err, &budget):
		answer(w, r, http.StatusTooManyRequests, problem{"budget_exceeded", budget.Error() + ": try again then", id, retryAfter(w, max(budget.RetryAfter, time.Second))})
	case errors.As(err, &quota):
		refuse(w, r, http.StatusTooManyRequests, "quota_exceeded", quotaMessage(callerOf(r).name, quota))
	default:
		return false
	}
	return true
}

func quotaMessage(client string, err *lease.QuotaError) string {
	if err.Shared { // a quota would not help
		return err.Error() + ": ask again in a moment, or for another selector"
	}
	return fmt.Sprintf("client %s has %d %s, which is all it may have: %s", client, err.Limit, err.What, quotaRemedy(err))
}

// quotaRemedy is what a client can do that has all it may have.
func quotaRemedy(err *lease.QuotaError) string {
	switch err.What {
	case "leases":
		return "release some, or have quota.leases in the tokens file raised"
	case "waiting requests":
		return "wait for their answers, or have quota.waiting in the tokens file raised"
	default: // the same for everybody
		return "use those again; each is forgotten a while after its last lease (--session-idle)"
	}
}

// outcomeOf is what the metric calls the refusal of a lease.
func outcomeOf(err error) string {
	var bad *invalid
	var none *lease.NoMatchError
	var quota *lease.QuotaError
	var budget *lease.BudgetError
	switch {
	case errors.As(err, &bad):
		return "invalid"
	case errors.As(err, &none):
		return "no_match"
	case errors.As(err, &quota):
		return "quota"
	case errors.As(err, &budget):
		return "budget"
	}
	for _, k := range known {
		if errors.Is(err, k.err) {
			return k.outcome
		}
	}
	return "unavailable"
}
