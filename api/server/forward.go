package server

import (
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"
)

const (
	// forwardedHeader marks what another replica has forwarded.
	forwardedHeader = "X-Fairlead-Forwarded"
	// dialTimeout is how long a leader that is gone is waited for.
	dialTimeout = time.Second
	// forwardIdle is below the idle timeout of the server at the other end, so that a
	// connection is not used while that end closes it.
	forwardIdle  = idleTimeout / 2
	forwardConns = 256
)

// forwarder hands requests to the process that leads, and sends none of them twice.
type forwarder struct {
	proxy *httputil.ReverseProxy
}

func (s *server) newForwarder() forwarder {
	return forwarder{&httputil.ReverseProxy{
		Rewrite: rewrite,
		Transport: &http.Transport{
			DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
			TLSHandshakeTimeout:   dialTimeout,
			MaxIdleConnsPerHost:   forwardConns,
			IdleConnTimeout:       forwardIdle,
			ResponseHeaderTimeout: maxWait + writeTimeout,
			DisableCompression:    true,
		},
		ModifyResponse: func(r *http.Response) error {
			r.Header.Del(requestIDHeader) // it is set already
			return nil
		},
		ErrorHandler: s.forwardFailed,
		ErrorLog:     log.New(io.Discard, "", 0), // an answer that breaks off is in the log of requests
	}}
}

// leaderKey is where a request's context has the URL of the leader.
type leaderKey struct{}

func (f forwarder) to(leader string, w http.ResponseWriter, r *http.Request) {
	target, err := url.Parse(leader)
	if err != nil || target.Host == "" {
		noLeader(w, r, "the leader has no URL that can be reached: give each replica its own --advertise-url")
		return
	}
	extendDeadline(w, maxWait) // whatever the request waits for
	f.proxy.ServeHTTP(w, withValue(r, leaderKey{}, target))
}

func rewrite(p *httputil.ProxyRequest) {
	if target, ok := p.In.Context().Value(leaderKey{}).(*url.URL); ok {
		p.SetURL(target)
	}
	p.Out.Header.Set(forwardedHeader, "1")
	p.Out.Header.Set(requestIDHeader, requestID(p.In.Context()))
	// net/http sends requests again on another connection if it takes them for harmless:
	// those without a body, and those with an Idempotency-Key. It does not while there is a
	// body that it cannot read again.
	p.Out.GetBody = nil
	if p.Out.Body == nil || p.Out.Body == http.NoBody {
		p.Out.Body = io.NopCloser(strings.NewReader(""))
	}
}

// forwardFailed says whether the leader may have done what was asked.
func (s *server) forwardFailed(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // nobody waits for the answer
	}
	s.Log.WarnContext(r.Context(), "the process that leads did not answer", slog.Any("error", err), slog.String("requestID", requestID(r.Context())))
	var tooLarge *http.MaxBytesError
	var dial *net.OpError
	switch {
	case errors.As(err, &tooLarge):
		s.fail(w, r, bodyTooLarge(tooLarge))
	case errors.As(err, &dial) && dial.Op == "dial":
		noLeader(w, r, "the process that lends cannot be reached: nothing was done, try again")
	default:
		retryAfter(w, time.Second)
		refuse(w, r, http.StatusServiceUnavailable, "leader_lost",
			fmt.Sprintf("the process that lends went away before it answered, so it is not known whether this was done: repeat it with the same Idempotency-Key, or look at GET %s", leasesPath))
	}
}

func noLeader(w http.ResponseWriter, r *http.Request, message string) {
	retryAfter(w, time.Second)
	refuse(w, r, http.StatusServiceUnavailable, "no_leader", message)
}
