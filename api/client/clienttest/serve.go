package clienttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"time"
)

type acquireBody struct {
	Selector    map[string]string `json:"selector"`
	Target      string            `json:"target"`
	TTLSeconds  *int64            `json:"ttlSeconds"`
	Exclusive   bool              `json:"exclusive"`
	Session     string            `json:"session"`
	WaitSeconds int64             `json:"waitSeconds"`
	Priority    int               `json:"priority"`
	Count       *int              `json:"count"`
	AtLeast     *int              `json:"atLeast"`
}

type renewBody struct {
	TTLSeconds *int64 `json:"ttlSeconds"`
}

type reportBody struct {
	Result            string `json:"result"`
	Target            string `json:"target"`
	RetryAfterSeconds *int64 `json:"retryAfterSeconds"`
}

// problem is a refusal.
type problem struct {
	code          int
	word, message string
}

func (p *problem) Error() string { return p.word + ": " + p.message }

func badRequest(word, message string) error { return &problem{http.StatusBadRequest, word, message} }

// ServeHTTP answers one request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a.mu.Lock()
	a.asked = append(a.asked, Asked{r.Method, r.URL.Path, r.Header.Get("Idempotency-Key"), r.Header.Get("Authorization"), string(body)})
	instead, token := a.Instead, a.Token
	a.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	if instead != nil && instead(w, r) {
		return
	}
	if token != "" && r.Header.Get("Authorization") != "Bearer "+token {
		Refuse(w, http.StatusUnauthorized, "unauthorized", "send a known token")
		return
	}
	a.routes().ServeHTTP(w, r)
}

// operation does what a route is for.
type operation func(http.ResponseWriter, *http.Request) (code int, body any, err error)

func (a *API) routes() *http.ServeMux {
	m := http.NewServeMux()
	for pattern, do := range map[string]operation{
		"POST /v1/leases":             a.acquire,
		"GET /v1/leases":              a.list,
		"DELETE /v1/leases/{id}":      a.release,
		"POST /v1/leases/{id}/renew":  a.renew,
		"POST /v1/leases/{id}/report": a.report,
	} {
		m.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { a.serve(w, r, do) })
	}
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		Refuse(w, http.StatusNotFound, "not_found", "there is nothing at "+r.URL.Path)
	})
	return m
}

func (a *API) serve(w http.ResponseWriter, r *http.Request, do operation) {
	code, body, err := do(w, r)
	if a.Lose != nil && a.Lose(r) {
		panic(http.ErrAbortHandler)
	}
	var refused *problem
	switch {
	case errors.As(err, &refused):
		Refuse(w, refused.code, refused.word, refused.message)
	case code == http.StatusNoContent:
		w.WriteHeader(code)
	default:
		answer(w, code, body)
	}
}

// decode is as strict as the API.
func decode(r *http.Request, into any) error {
	if r.Header.Get("Content-Type") != "application/json" {
		return &problem{http.StatusUnsupportedMediaType, "unsupported_media_type", "send JSON"}
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return badRequest("invalid_body", err.Error())
	}
	return nil
}

var goodKey = regexp.MustCompile(`^[!-~]{1,255}$`)

func (a *API) check(b acquireBody, r *http.Request) error {
	if key, given := r.Header["Idempotency-Key"]; given && !goodKey.MatchString(key[0]) {
		return badRequest("invalid_body", "the key must be printable")
	}
	if b.TTLSeconds != nil && !within(*b.TTLSeconds, 1, a.MaxTTL) {
		return badRequest("invalid_ttl", "ttlSeconds is out of range")
	}
	count, atLeast := b.counts()
	if !within(b.WaitSeconds, 0, 60) || !within(b.Priority, 0, 9) || !within(count, 1, 100) || !within(atLeast, 1, count) {
		return badRequest("invalid_body", "waitSeconds, priority, count or atLeast is out of range")
	}
	return nil
}

func within[T int | int64](n, least, most T) bool { return n >= least && n <= most }

// counts are how many leases are asked for, and how many will do.
func (b acquireBody) counts() (count, atLeast int) {
	count = 1
	if b.Count != nil {
		count = *b.Count
	}
	atLeast = count
	if b.AtLeast != nil {
		atLeast = *b.AtLeast
	}
	return count, atLeast
}

func (a *API) list(http.ResponseWriter, *http.Request) (int, any, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	leases := []map[string]any{}
	for _, l := range a.sorted() {
		told := l.told()
		bare := *l.proxy
		bare.Username, bare.Password = "", ""
		told["proxy"], told["client"], told["target"], told["grantedAt"] = bare, "tester", l.body.Target, l.granted
		leases = append(leases, told)
	}
	return http.StatusOK, map[string]any{"leases": leases, "count": len(leases)}, nil
}

func (a *API) release(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.leases, r.PathValue("id"))
	a.wake()
	return http.StatusNoContent, nil, nil
}

// find returns a lease that is active.
func (a *API) find(id string) (*lease, error) {
	l := a.leases[id]
	switch {
	case l == nil:
		return nil, &problem{http.StatusNotFound, "unknown_lease", "there is no lease " + id}
	case l.gone || l.proxy.Gone:
		return nil, &problem{http.StatusGone, "proxy_gone", "the proxy is gone"}
	case !l.active():
		return nil, &problem{http.StatusGone, "lease_expired", "the lease has expired"}
	}
	return l, nil
}

func (a *API) renew(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	var b renewBody
	if err := decode(r, &b); err != nil {
		return 0, nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	l, err := a.find(r.PathValue("id"))
	if err != nil {
		return 0, nil, err
	}
	ttl := l.ttl
	if b.TTLSeconds != nil {
		ttl = *b.TTLSeconds
	}
	if ttl < 1 || ttl > a.MaxTTL {
		return 0, nil, badRequest("invalid_ttl", "ttlSeconds is out of range")
	}
	if at := time.Now().Add(time.Duration(ttl) * time.Second); at.After(l.expires) {
		l.expires = at
	}
	return http.StatusOK, map[string]any{
		"leaseID": l.ID, "expiresAt": l.expires, "ttlSeconds": ttl,
		"proxyHealthy": !l.proxy.Unhealthy, "proxyDraining": l.proxy.Draining,
	}, nil
}

func (a *API) report(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	var b reportBody
	if err := decode(r, &b); err != nil {
		return 0, nil, err
	}
	after := b.RetryAfterSeconds
	if !slices.Contains([]string{"ok", "rate_limited", "banned"}, b.Result) ||
		after != nil && (b.Result != "rate_limited" || *after < 1 || *after > 86400) {
		return 0, nil, badRequest("invalid_result", "result or retryAfterSeconds is not one")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	id := r.PathValue("id")
	if _, known := a.leases[id]; !known { // one that ended lately may be reported on
		return 0, nil, &problem{http.StatusNotFound, "unknown_lease", "there is no lease " + id}
	}
	return http.StatusNoContent, nil, nil
}
