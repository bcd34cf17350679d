package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"example.com/fairlead/internal/text"
)

const (
	maxBody    = 64 << 10
	maxMessage = 256
	userAgent  = "fairlead-probe"
	// squidError is the header by which Squid says that an answer is its own.
	squidError = "X-Squid-Error"
)

// answer is what came back through the proxy.
type answer struct {
	url     string
	latency time.Duration
	status  int
	// byProxy: the proxy may have written it itself, no tunnel lies between.
	byProxy bool
	squid   string
	body    []byte
	err     error
}

// refusal is an answer of the proxy to CONNECT other than 200.
type refusal struct {
	status int
	squid  string
}

func (r *refusal) Error() string {
	if r.squid != "" {
		return fmt.Sprintf("proxy answered CONNECT with %d (%s)", r.status, r.squid)
	}
	return fmt.Sprintf("proxy answered CONNECT with %d", r.status)
}

// fetch gets u through t's proxy on a connection of its own: a kept one would
// carry later probes past a proxy that takes no more.
func fetch(ctx context.Context, t Target, u string) answer {
	a := answer{url: u}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		a.err = errors.New("the URL cannot be parsed: correct it in healthCheck")
		return a
	}
	req.Header.Set("User-Agent", userAgent)
	tr := transport(t)
	defer tr.CloseIdleConnections()
	start := time.Now()
	// RoundTrip follows no redirect: a 302 is an answer like any other.
	resp, err := tr.RoundTrip(req)
	if err != nil {
		a.err = err
		return a
	}
	a.status = resp.StatusCode
	if a.byProxy = req.URL.Scheme == "http" && t.Proxy.Scheme != "socks5"; a.byProxy {
		a.squid = resp.Header.Get(squidError)
	}
	a.body, a.err = io.ReadAll(io.LimitReader(resp.Body, maxBody))
	a.latency = time.Since(start)
	if err := resp.Body.Close(); err != nil && a.err == nil {
		a.err = err
	}
	return a
}

func transport(t Target) *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyURL(t.Proxy.url(t.Credentials)),
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxBody,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: t.Check.Roots},
		// Go uses this one towards https proxies only: the roots of the check are the
		// target's, the proxy's certificate may come from elsewhere.
		DialTLSContext: (&tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: t.Check.ProxyRoots}}).DialContext,
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, r *http.Response) error {
			if r.StatusCode != http.StatusOK {
				return &refusal{status: r.StatusCode, squid: r.Header.Get(squidError)}
			}
			return nil
		},
	}
}

// judge turns an answer into a result. An expected status is right whatever it is.
func (a answer) judge(c Check) Result {
	where := origin(a.url)
	switch {
	case a.err != nil:
		return failed(verdictOf(a.err), "%s: %s", where, explain(a.err))
	case a.byProxy && a.status == http.StatusProxyAuthRequired:
		return failed(Auth, "proxy asks for credentials (407): check authSecretRef")
	case a.squid != "" && a.status == http.StatusForbidden:
		return failed(Forbidden, "proxy refuses to fetch %s: %s", where, a.squid)
	case a.squid != "":
		return failed(Dead, "proxy could not fetch %s: %d %s", where, a.status, a.squid)
	case a.status != c.ExpectedStatus && blocks(a.status):
		return failed(Blocked, "%s answered %d, expected %d", where, a.status, c.ExpectedStatus)
	case a.status != c.ExpectedStatus:
		return failed(Dead, "%s answered %d, expected %d", where, a.status, c.ExpectedStatus)
	case !strings.Contains(string(a.body), c.BodyContains):
		return failed(Dead, "%s answered without %q in its first 64 KiB", where, c.BodyContains)
	}
	return Result{Verdict: Healthy, Latency: a.latency, ExitIP: a.address()}
}

func failed(v Verdict, format string, args ...any) Result {
	message := strings.ToValidUTF8(fmt.Sprintf(format, args...), "?")
	return Result{Verdict: v, Message: text.Head(message, maxMessage, "…")}
}

func blocks(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusTooManyRequests
}

func verdictOf(err error) Verdict {
	var r *refusal
	if errors.As(err, &r) {
		switch {
		case r.status == http.StatusProxyAuthRequired:
			return Auth
		case r.status >= 400 && r.status < 500:
			return Forbidden
		}
		return Dead
	}
	// net/http keeps the types of its SOCKS errors to itself.
	switch text := err.Error(); {
	case strings.Contains(text, "socks") && strings.Contains(text, "authentication"):
		return Auth
	case strings.Contains(text, "socks") && strings.Contains(text, "not allowed by ruleset"):
		return Forbidden
	}
	return Dead
}

func explain(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	var dial *net.OpError
	if errors.As(err, &dial) && (dial.Op == "proxyconnect" || dial.Op == "socks connect") {
		return fmt.Sprintf("cannot use the proxy: %s", dial.Err)
	}
	return err.Error()
}

// address is the body if it is an IP address and nothing else.
func (a answer) address() string {
	if a.err != nil || a.status != http.StatusOK {
		return ""
	}
	ip, err := netip.ParseAddr(strings.TrimSpace(string(a.body)))
	if err != nil || ip.Zone() != "" {
		return ""
	}
	return ip.Unmap().String()
}

func (a answer) because() string {
	switch {
	case a.err != nil:
		return ": " + explain(a.err)
	case a.status != http.StatusOK:
		return fmt.Sprintf(": status %d", a.status)
	}
	return ""
}

// origin is what messages tell of a URL: its path, query and user may be secrets.
func origin(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "target"
	}
	return u.Scheme + "://" + u.Host
}
