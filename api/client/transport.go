package client

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Classify is what answers of targets usually mean: 403 is a ban, 429 a rate limit, and 2xx
// and 3xx are OK. Anything else says nothing.
func Classify(r *http.Response) Result {
	switch {
	case r.StatusCode == http.StatusForbidden:
		return Banned
	case r.StatusCode == http.StatusTooManyRequests:
		return RateLimited
	case r.StatusCode >= 200 && r.StatusCode < 400:
		return OK
	}
	return ""
}

// transport sends requests through the proxy of a lease.
type transport struct {
	lease *Lease
	base  *http.Transport
}

// Transport sends requests through the proxy of the lease, otherwise as base does, of which
// it takes a copy; nil is http.DefaultTransport. It reports bans and rate limits of the host
// that was asked, and once that a trial went well, while requests go on. When the lease is
// over it refuses with the lease's error; it does not cut what is under way: give requests a
// Lease.Context for that.
func (l *Lease) Transport(base *http.Transport) http.RoundTripper {
	if base == nil {
		base, _ = http.DefaultTransport.(*http.Transport)
	}
	if base == nil { // somebody replaced it
		base = &http.Transport{}
	}
	t := &transport{lease: l, base: base.Clone()}
	t.base.Proxy = http.ProxyURL(l.Proxy().URL())
	context.AfterFunc(l.own, t.base.CloseIdleConnections)
	return t
}

// RoundTrip sends one request.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := t.lease.usable(); err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, fmt.Errorf("no request through %s: %w", t.lease, err)
	}
	resp, err := t.base.RoundTrip(req)
	if err == nil {
		t.observe(req, resp)
	}
	return resp, err
}

// CloseIdleConnections is what http.Client.CloseIdleConnections calls.
func (t *transport) CloseIdleConnections() { t.base.CloseIdleConnections() }

// observe reports what an answer means.
func (t *transport) observe(req *http.Request, resp *http.Response) {
	report := Report{Result: t.lease.client.options.Classify(resp), Target: hostOf(req)}
	switch report.Result {
	case "":
		return
	case OK:
		// Only a trial waits for it, and only of what the lease is for.
		if own := t.lease.host(); !t.lease.grant.Trial || own != "" && own != report.Target {
			return
		}
		report.Target = ""
	case RateLimited:
		report.RetryAfter = retryAfter(resp)
	}
	t.lease.reports.tell(report)
}

// hostOf is the host that was asked, as the API spells targets.
func hostOf(req *http.Request) string { return normal(req.URL.Hostname()) }

// host is the host that the lease is for, empty if it is for none.
func (l *Lease) host() string {
	host := l.target
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return normal(strings.Trim(host, "[]"))
}

func normal(host string) string { return strings.TrimSuffix(strings.ToLower(host), ".") }

// retryAfter is what the target asks for, 0 if nothing that can be understood.
func retryAfter(resp *http.Response) time.Duration {
	asked := resp.Header.Get("Retry-After")
	if n, err := strconv.Atoi(asked); err == nil {
		return time.Duration(min(max(0, n), int(maxRetryAfter/time.Second))) * time.Second
	}
	at, err := http.ParseTime(asked)
	if err != nil {
		return 0
	}
	// By the target's own clock, if it tells.
	now, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return min(max(0, at.Sub(now)), maxRetryAfter)
}
