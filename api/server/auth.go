package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"example.com/fairlead/api/lease"
)

// Scope is what a token may do.
type Scope string

// The scopes.
const (
	// ScopeCrawler sees proxies, and sees and changes its own leases.
	ScopeCrawler Scope = "crawler"
	// ScopeOperator may do everything.
	ScopeOperator Scope = "operator"
	// ScopeRead sees everything and changes nothing.
	ScopeRead Scope = "read"
)

var scopes = []Scope{ScopeCrawler, ScopeOperator, ScopeRead}

// caller is who makes a request.
type caller struct {
	name   string
	scopes []Scope
	quota  lease.Quota
}

func (c *caller) has(s Scope) bool { return slices.Contains(c.scopes, s) }

// seesAll says whether c sees the leases of others.
func (c *caller) seesAll() bool { return c.has(ScopeOperator) || c.has(ScopeRead) }

// changes says whether c may end, renew and report on a lease of client.
func (c *caller) changes(client string) bool {
	return c.has(ScopeOperator) || c.has(ScopeCrawler) && c.name == client
}

// operatorOnly refuses everybody else.
func operatorOnly(r *http.Request, what string) error {
	if who := callerOf(r); !who.has(ScopeOperator) {
		return &invalid{http.StatusForbidden, "forbidden", "token " + who.name + " may not " + what + ": this takes one of scope operator"}
	}
	return nil
}

// authenticate lets requests in whose token is known and may use their method.
// Without a tokens file everybody is an operator.
func (s *server) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := callerOf(r)
		if s.Tokens == nil {
			*who = caller{name: "anonymous", scopes: []Scope{ScopeOperator}}
			next.ServeHTTP(w, r)
			return
		}
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		found, ok := s.Tokens.find(strings.TrimSpace(token))
		if !strings.EqualFold(scheme, "Bearer") || !ok {
			s.unauthorized(w, r)
			return
		}
		*who = found
		if r.Method != http.MethodGet && r.Method != http.MethodHead && !who.has(ScopeOperator) && !who.has(ScopeCrawler) {
			refuse(w, r, http.StatusForbidden, "forbidden", "token "+who.name+" may only read: this takes one of scope crawler or operator")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// unauthorized answers those that have no good token, and soon only that they should
// stop trying: whoever guesses gets no further, and a good token always passes.
func (s *server) unauthorized(w http.ResponseWriter, r *http.Request) {
	if wait := s.failures.another(r.RemoteAddr); wait > 0 {
		answer(w, r, http.StatusTooManyRequests, problem{
			"too_many_failures", fmt.Sprintf("%d requests a minute without a known token are answered: correct the token, and try again later", failuresPerMinute),
			requestID(r.Context()), retryAfter(w, wait),
		})
		return
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="fairlead"`)
	refuse(w, r, http.StatusUnauthorized, "unauthorized", "send a known token: Authorization: Bearer <token>")
}
