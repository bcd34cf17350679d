// Package charts fetches chart archives from classic Helm repositories and OCI
// registries. It knows where a chart is and that it arrived whole; what is in it,
// and whose add-on it is for, it does not know.
package charts

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"sync"
	"time"

	"example.com/fairlead/activities/fetch"
)

// Source is what an add-on says of its chart.
type Source struct {
	// Repo is https://… or http://… for a classic repository, oci://… for a registry.
	Repo string
	// Chart is its name in the repository; in a registry it follows the path of Repo.
	Chart string
	// Version is an exact one, with or without a leading v, or a range as Helm knows
	// it. Empty is the newest one that is no pre-release.
	Version string
}

// Credentials are sent to the repository they are for, which is its scheme, host and
// port, and to the realm where a registry has us get a token; to nobody else. A token is
// used instead of a password.
type Credentials = fetch.Credentials

// Resolved is one archive. Whoever knows its digest gets it from the cache without
// asking its repository again.
type Resolved struct {
	Source

	// Version is that of the archive, as the repository writes it.
	Version string
	// Digest is sha256:… of the archive.
	Digest string
	// URL is where the archive is, and Mirrors are further places for the same.
	URL     string
	Mirrors []string
}

// Fetcher fetches charts. Its methods may be called at the same time: callers that
// want the same thing share one request.
type Fetcher struct {
	// Dir is the cache. Several processes may use one.
	Dir string
	// Transport is the way out; default is NewTransport().
	Transport http.RoundTripper
	// Now is the clock; default time.Now.
	Now    func() time.Time
	Limits Limits

	once    sync.Once
	files   *store
	flights fetch.Flights[request, string]
	tables  fetch.Flights[string, map[string]*block]

	mu    sync.Mutex
	seen  map[request]sighting
	known []table
}

// Limits bound what a repository can make a Fetcher do. Zero values are replaced by
// those of DefaultLimits.
type Limits struct {
	// ArchiveBytes is the size of an archive, IndexBytes that of an index.
	ArchiveBytes, IndexBytes int64
	// VersionBytes is what an index may say of one version of a chart, and the size
	// up to which an index is read at once when it cannot be read as a stream.
	VersionBytes int64
	// CacheBytes is the size of Dir.
	CacheBytes int64
	// Silence is how long a server may send nothing, Total how long a request takes.
	Silence, Total time.Duration
	// Fresh is how long an index is used without asking whether it has changed.
	Fresh time.Duration
}

// DefaultLimits suit the repositories that there are: the largest indexes have 30 MB.
func DefaultLimits() Limits {
	return Limits{
		ArchiveBytes: 64 << 20,
		IndexBytes:   256 << 20,
		VersionBytes: 2 << 20,
		CacheBytes:   1 << 30,
		Silence:      30 * time.Second,
		Total:        5 * time.Minute,
		Fresh:        10 * time.Second,
	}
}

// NewTransport is one of its own, so that nobody else's settings reach it.
func NewTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           20,
		IdleConnTimeout:        30 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// chartName is narrower than what a URL can hold: a name must not leave its folder.
var chartName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$`)

// Resolve finds the archive of a chart. It reads as little as the repository allows,
// and the archive itself only if its digest is nowhere else.
func (f *Fetcher) Resolve(ctx context.Context, src Source, creds *Credentials) (Resolved, error) {
	resolved, err := f.resolve(ctx, src, creds)
	if err != nil {
		return Resolved{}, fmt.Errorf("resolve chart %q: %w", src.Chart, err)
	}
	return resolved, nil
}

func (f *Fetcher) resolve(ctx context.Context, src Source, creds *Credentials) (Resolved, error) {
	f.once.Do(f.prepare)
	repo, err := parseURL(src.Repo)
	if err != nil {
		return Resolved{}, fmt.Errorf("repository: %w", err)
	}
	if !chartName.MatchString(src.Chart) {
		return Resolved{}, fetch.Permanent("the name of a chart has letters, digits, dots, dashes and underscores")
	}
	if err := creds.Check(repo); err != nil {
		return Resolved{}, err
	}
	if repo.Scheme == schemeOCI {
		return f.resolveOCI(ctx, repo, src, creds)
	}
	return f.resolveClassic(ctx, repo, src, creds)
}

// Fetch gets the archive, from the cache if it is there. The caller closes it.
func (f *Fetcher) Fetch(ctx context.Context, r Resolved, creds *Credentials) (*Archive, error) {
	f.once.Do(f.prepare)
	archive, err := f.fetch(ctx, r, creds)
	if err != nil {
		return nil, fmt.Errorf("fetch chart %s-%s: %w", r.Chart, r.Version, err)
	}
	return archive, nil
}

func (f *Fetcher) prepare() {
	if f.Transport == nil {
		f.Transport = NewTransport()
	}
	if f.Now == nil {
		f.Now = time.Now
	}
	f.Limits = f.Limits.orDefault()
	f.files = &store{dir: f.Dir, max: f.Limits.CacheBytes, now: f.Now}
	f.seen = map[request]sighting{}
}

func (l Limits) orDefault() Limits {
	d := DefaultLimits()
	l.ArchiveBytes = cmp.Or(l.ArchiveBytes, d.ArchiveBytes)
	l.IndexBytes = cmp.Or(l.IndexBytes, d.IndexBytes)
	l.VersionBytes = cmp.Or(l.VersionBytes, d.VersionBytes)
	l.CacheBytes = cmp.Or(l.CacheBytes, d.CacheBytes)
	l.Silence = cmp.Or(l.Silence, d.Silence)
	l.Total = cmp.Or(l.Total, d.Total)
	l.Fresh = cmp.Or(l.Fresh, d.Fresh)
	return l
}

// request is what callers can share: the same URL, asked with the same credentials.
type request struct {
	url   string
	creds Credentials
	// home is the origin that got the credentials.
	home fetch.Origin
	// digest is what must come; empty if anything may.
	digest string
}

// sessionFor makes a session whose credentials belong to the origin of repo.
func (f *Fetcher) sessionFor(repo *url.URL, creds *Credentials) *session {
	if repo.Scheme == schemeOCI {
		repo = registryURL(repo)
	}
	s := &session{home: fetch.OriginOf(repo), creds: creds.OrNone()}
	s.authorization = s.creds.Header()
	s.client = &http.Client{Transport: fetch.Listener{Transport: f.Transport, Silence: f.Limits.Silence}, CheckRedirect: s.redirect}
	return s
}
