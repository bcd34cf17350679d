package server

import (
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/api/lease/desk"
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
	// forwardTimeout is how long a leader may take to answer, beside what the request waits
	// for: one that stands still breaks no connection.
	forwardTimeout = 10 * time.Second
)

// forwarder hands requests to the process that leads, and sends none of them twice.
type forwarder struct {
	proxy *httputil.ReverseProxy
	desk  *desk.Desk
}

func (s *server) newForwarder() forwarder {
	proxy := &httputil.ReverseProxy{
		Rewrite: rewrite,
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
			TLSHandshakeTimeout: dialTimeout,
			MaxIdleConnsPerHost: forwardConns,
			IdleConnTimeout:     forwardIdle,
			DisableCompression:  true,
		},
		ModifyResponse: func(r *http.Response) error {
			r.Header.Del(requestIDHeader) // it is set already
			if e, ok := r.Request.Context().Value(errandKey{}).(errand); ok {
				e.answered()
			}
			return nil
		},
		ErrorHandler: s.forwardFailed,
		ErrorLog:     log.New(io.Discard, "", 0), // an answer that breaks off is in the log of requests
	}
	return forwarder{proxy, s.Desk}
}

// errand is one request on its way to the leader.
type errand struct {
	leader *url.URL
	// answered ends the watch over the leader.
	answered func()
}

// errandKey is where a request's context has its errand.
type errandKey struct{}

func (f forwarder) to(leader string, w http.ResponseWriter, r *http.Request) {
	target, err := url.Parse(leader)
	if err != nil || target.Host == "" {
		noLeader(w, r, "the leader has no URL that can be reached: give each replica its own --advertise-url")
		return
	}
	extendDeadline(w, maxWait) // whatever the request waits for
	ctx, end := context.WithCancelCause(r.Context())
	watched, answered := context.WithTimeout(ctx, patience(r))
	var watch sync.WaitGroup
	defer watch.Wait()
	defer end(nil)
	defer answered()
	watch.Go(func() {
		if err := f.desk.Follow(watched, leader); !errors.Is(err, context.Canceled) {
			end(err)
		}
	})
	f.proxy.ServeHTTP(w, withValue(r.WithContext(ctx), errandKey{}, errand{target, answered}))
}

// patience is how long the answer to r may take. Only the leader reads how long r waits.
func patience(r *http.Request) time.Duration {
	if r.Method == http.MethodPost && r.URL.Path == leasesPath {
		return forwardTimeout + maxWait
	}
	return forwardTimeout
}

func rewrite(p *httputil.ProxyRequest) {
	if e, ok := p.In.Context().Value(errandKey{}).(errand); ok {
		p.SetURL(e.leader)
	}
	// A client that lists the key in its Connection header means no request without one.
	if key, ok := p.In.Header[keyHeader]; ok {
		p.Out.Header[keyHeader] = key
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
	switch cause := context.Cause(r.Context()); {
	case errors.Is(cause, context.Canceled):
		return // nobody waits for the answer
	case errors.Is(cause, lease.ErrStopped):
		unanswered(w, r, "stopping", "this process ends")
		return
	case cause != nil:
		err = cause
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
		unanswered(w, r, "leader_lost", "the process that lends was lost")
	}
}

func unanswered(w http.ResponseWriter, r *http.Request, word, why string) {
	retryAfter(w, time.Second)
	refuse(w, r, http.StatusServiceUnavailable, word,
		why+" before the answer came, so it is not known whether this was done: repeat it with the same Idempotency-Key, or look at GET "+leasesPath)
}

func noLeader(w http.ResponseWriter, r *http.Request, message string) {
	retryAfter(w, time.Second)
	refuse(w, r, http.StatusServiceUnavailable, "no_leader", message)
}
