package probe

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

// What a health check is where the object does not say; the CRD's defaults are the
// same.
const (
	DefaultInterval         = 30 * time.Second
	DefaultTimeout          = 10 * time.Second
	DefaultExpectedStatus   = 200
	DefaultSuccessThreshold = 1
	DefaultFailureThreshold = 3
)

// Target is a proxy to probe.
type Target struct {
	UID string
	// Incarnation of the instance: a replaced one has to prove itself anew.
	Incarnation     int64
	Namespace, Name string
	Proxy           Endpoint
	// Credentials that the proxy asks for; nil for none.
	Credentials *url.Userinfo
	Check       Check
	// Published is the verdict that the object's Healthy condition tells.
	Published Published
	// Problem is found instead of probing, such as a Secret that cannot be read.
	Problem *Result
}

func (t Target) String() string { return t.Namespace + "/" + t.Name }

// Endpoint is where a proxy answers.
type Endpoint struct {
	// Scheme is http, https or socks5.
	Scheme string
	Host   string
	Port   int32
}

func (e Endpoint) url(user *url.Userinfo) *url.URL {
	return &url.URL{Scheme: e.Scheme, Host: net.JoinHostPort(e.Host, strconv.Itoa(int(e.Port))), User: user}
}

// Check says how to probe.
type Check struct {
	URLs           []string
	Quorum         int
	ExpectedStatus int
	BodyContains   string
	// Roots sign https targets; nil for the system's.
	Roots *x509.CertPool
	// ProxyRoots sign https proxies; nil for the system's.
	ProxyRoots                         *x509.CertPool
	Interval, Timeout, SlowAfter       time.Duration
	SuccessThreshold, FailureThreshold int
	Exit                               Exit
}

// Exit says what address targets must see.
type Exit struct {
	EchoURL string
	// Expect contains the address; not valid for any.
	Expect netip.Prefix
	// Unique: no other healthy target may leave by the same address.
	Unique bool
}

func (x Exit) asked() bool { return x.Unique || x.Expect.IsValid() }

// Published is what an object tells of its proxy's health.
type Published struct {
	// Known is false while the condition is Unknown or absent.
	Known   bool
	Healthy bool
	Latency time.Duration
	ExitIP  string
}

// Secrets are the contents of the Secrets that a Proxy refers to.
type Secrets struct {
	// Credentials of the proxy; nil for none.
	Credentials *url.Userinfo
	// CA signs https targets, as PEM; empty for the system's.
	CA []byte
	// Err is why they cannot be read. The proxy is then reported with it.
	Err error
}

// TargetOf says how to probe p. It returns false while there is nothing to probe:
// no address yet, or the object is being deleted.
func TargetOf(p *crawl.Proxy, s Secrets, defaultURL string) (Target, bool) {
	t := Target{
		UID: string(p.UID), Namespace: p.Namespace, Name: p.Name,
		Proxy:       Endpoint{Scheme: string(p.Scheme()), Host: p.Status.IP, Port: p.Status.Port},
		Credentials: s.Credentials,
		Published:   publishedBy(p),
	}
	if e := p.Spec.Endpoint; e != nil { // an edited endpoint need not wait for the status
		t.Proxy.Host, t.Proxy.Port = e.Host, e.Port
	}
	if current := p.Status.Current(); current != nil {
		t.Incarnation = current.Incarnation
	}
	if t.Proxy.Port == 0 {
		t.Proxy.Port = crawl.DefaultPort
	}
	if t.Proxy.Host == "" || !p.DeletionTimestamp.IsZero() {
		return Target{}, false
	}
	check, err := checkOf(p.Spec.HealthCheck, defaultURL, s.CA)
	t.Check = check
	switch {
	case s.Err != nil:
		t.Problem = problem(Auth, s.Err)
	case err != nil:
		t.Problem = problem(Dead, err)
	}
	return t, true
}

func problem(v Verdict, err error) *Result {
	r := failed(v, "not probed: %s", err)
	return &r
}

func publishedBy(p *crawl.Proxy) Published {
	c := p.Status.Condition(crawl.ConditionHealthy)
	if c == nil || c.Status == metav1.ConditionUnknown {
		return Published{}
	}
	return Published{
		Known: true, Healthy: c.Status == metav1.ConditionTrue,
		Latency: time.Duration(p.Status.LatencyMillis) * time.Millisecond, ExitIP: p.Status.ExitIP,
	}
}

func checkOf(h *crawl.HealthCheck, defaultURL string, ca []byte) (Check, error) {
	if h == nil {
		h = &crawl.HealthCheck{}
	}
	c := Check{
		URLs:             h.URLs,
		ExpectedStatus:   orInt(h.ExpectedStatus, DefaultExpectedStatus),
		BodyContains:     h.BodyContains,
		Interval:         crawl.DurationOr(h.Interval, DefaultInterval),
		Timeout:          crawl.DurationOr(h.Timeout, DefaultTimeout),
		SlowAfter:        crawl.DurationOr(h.SlowAfter, 0),
		SuccessThreshold: orInt(h.SuccessThreshold, DefaultSuccessThreshold),
		FailureThreshold: orInt(h.FailureThreshold, DefaultFailureThreshold),
	}
	switch {
	case h.URL != "":
		c.URLs = []string{h.URL}
	case len(c.URLs) == 0:
		c.URLs = []string{defaultURL}
	}
	c.Quorum = orInt(h.Quorum, len(c.URLs)/2+1)
	if c.URLs[0] == "" {
		return c, errors.New("no probe URL: set healthCheck.url, or --default-probe-url for all proxies")
	}
	var err error
	if c.Exit, err = exitOf(h.Exit); err != nil {
		return c, err
	}
	return c, c.trust(ca)
}

// trust makes ca the only roots of targets, and roots of https proxies beside the
// system's.
func (c *Check) trust(ca []byte) error {
	if len(ca) == 0 {
		return nil
	}
	c.Roots = x509.NewCertPool()
	if !c.Roots.AppendCertsFromPEM(ca) {
		return errors.New("the Secret of healthCheck.caSecretRef holds no PEM certificate under ca.crt")
	}
	system, err := x509.SystemCertPool()
	if err != nil {
		return fmt.Errorf("read the system's certificates: %w", err)
	}
	system.AppendCertsFromPEM(ca)
	c.ProxyRoots = system
	return nil
}

func exitOf(x *crawl.ExitCheck) (Exit, error) {
	if x == nil {
		return Exit{}, nil
	}
	e := Exit{EchoURL: x.EchoURL, Unique: x.Unique}
	if x.Expect == "" {
		return e, nil
	}
	if ip, err := netip.ParseAddr(x.Expect); err == nil {
		e.Expect = netip.PrefixFrom(ip.Unmap(), ip.Unmap().BitLen())
		return e, nil
	}
	prefix, err := netip.ParsePrefix(x.Expect)
	if err != nil {
		return e, fmt.Errorf("healthCheck.exit.expect %q is neither an address nor a CIDR", x.Expect)
	}
	e.Expect = prefix
	return e, nil
}

func orInt(v int32, fallback int) int {
	if v == 0 {
		return fallback
	}
	return int(v)
}
