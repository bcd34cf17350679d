package forward

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httputil"
	"time"
)

const (
	responseHeaderTimeout = 2 * time.Minute
	idleUpstreamTimeout   = 30 * time.Second
)

// forwardedHeaders are a client's own business: net/http takes them out, as a
// reverse proxy must, and they are put back.
var forwardedHeaders = [...]string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"}

// proxy answers proxy requests.
type proxy struct {
	auth    *credentials // nil asks for none
	dialer  *dialer
	plain   *httputil.ReverseProxy
	tunnels tunnels
}

func newProxy(o Options, errorLog *log.Logger) (*proxy, error) {
	d, err := newDialer(o.DialFrom)
	if err != nil {
		return nil, err
	}
	p := &proxy{dialer: d}
	if o.AuthFile != "" {
		if p.auth, err = readCredentials(o.AuthFile); err != nil {
			return nil, err
		}
	}
	// The reverse proxy of the standard library does what RFC 9110 asks of any
	// intermediary: hop-by-hop headers, among them credentials for proxies, end here.
	p.plain = &httputil.ReverseProxy{
		Rewrite:       passThrough,
		FlushInterval: -1, // a stream must not wait for a full buffer
		ErrorHandler:  badGateway,
		ErrorLog:      errorLog,
		Transport: &http.Transport{
			Proxy:                 nil, // never another proxy, whatever the environment says
			DialContext:           d.dial,
			DisableCompression:    true, // what the client did not ask for it may not understand
			MaxIdleConnsPerHost:   8,
			IdleConnTimeout:       idleUpstreamTimeout,
			ResponseHeaderTimeout: responseHeaderTimeout,
			TLSHandshakeTimeout:   dialTimeout,
		},
	}
	return p, nil
}

// ServeHTTP forwards one request.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case p.auth != nil && !p.auth.allow(r):
		w.Header().Set("Proxy-Authenticate", `Basic realm="proxy", charset="UTF-8"`)
		http.Error(w, "this proxy asks for a user name and a password", http.StatusProxyAuthRequired)
	case r.Method == http.MethodConnect:
		p.connect(w, r)
	case r.URL.Host == "" || r.URL.Scheme != "http" && r.URL.Scheme != "https":
		http.Error(w, "this is a forward proxy: ask for http://host/path, or CONNECT host:port", http.StatusBadRequest)
	default:
		p.plain.ServeHTTP(w, r)
	}
}

// passThrough undoes what the standard library changes for reverse proxies.
func passThrough(r *httputil.ProxyRequest) {
	for _, name := range forwardedHeaders {
		if values, ok := r.In.Header[name]; ok {
			r.Out.Header[name] = values
		}
	}
	r.Out.URL.RawQuery = r.In.URL.RawQuery
	r.Out.Host = r.In.Host
}

func badGateway(w http.ResponseWriter, r *http.Request, err error) {
	http.Error(w, fmt.Sprintf("the proxy got no answer from %s: %v", r.URL.Host, err), http.StatusBadGateway)
}
