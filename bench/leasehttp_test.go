package bench

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"golang.org/x/sys/unix"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/yaml"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/lease/bolt"
	"example.com/fairlead/api/lease/desk"
	"example.com/fairlead/api/server"
	"example.com/fairlead/temporal/wire"
)

const (
	// httpConnections send one pair of requests after the other, for pairTime in each of
	// pairRounds rounds.
	httpConnections = 256
	pairTime        = 2 * time.Second
	pairRounds      = 6
	pairProxies     = 200
)

// BenchmarkLeaseHTTP measures pairs of a lease and its release over HTTP, on a journal of
// bbolt, beside pairs of trivial handlers on the same server: with the same middleware, and
// bodies of the same form.
func BenchmarkLeaseHTTP(b *testing.B) {
	w := newWorld(b)
	url, token := w.serveLeases(b)
	ours := &pairs{url: url + "/v1/leases", token: token}
	floor := &pairs{url: url + "/floor/leases", token: token}
	ours.run(b, pairTime) // connections are made, which is not to be measured
	floor.run(b, pairTime)
	ours.forget()
	floor.forget()
	for b.Loop() {
		for range pairRounds {
			floor.run(b, pairTime)
			ours.run(b, pairTime)
		}
	}
	slices.Sort(ours.took)
	slices.Sort(floor.took)
	b.ReportMetric(0, "ns/op") // of all rounds: says nothing
	b.ReportMetric(ours.rate(), "pairs/s")
	b.ReportMetric(floor.rate(), "floor-pairs/s")
	b.ReportMetric(ours.rate()/floor.rate(), "of-floor")
	b.ReportMetric(millis(percentile(ours.took, 99)), "ms-p99")
	b.ReportMetric(millis(percentile(floor.took, 99)), "floor-ms-p99")
	b.ReportMetric(float64(percentile(ours.took, 99))/float64(percentile(floor.took, 99)), "x-floor-p99")
	b.ReportMetric(millis(fsyncTime(b)), "ms-fsync")
}

// serveLeases serves the API on External proxies and a bbolt journal.
func (w *world) serveLeases(b *testing.B) (url, token string) {
	b.Helper()
	f := &fleet{world: w, port: 3128}
	f.seed(pairProxies, func(int) string { return "" })
	dir := b.TempDir()
	log := slog.New(slog.NewJSONHandler(io.Discard, nil))
	d := desk.New(desk.Options{Place: bolt.New(filepath.Join(dir, "leases.db"), log), Log: log})
	tokens, token := w.tokensFile(filepath.Join(dir, "tokens.yaml"), log)
	api, err := server.New(server.Options{
		Desk: d, Secrets: w.client, Objects: w.client, Workflows: nobody{}, Tokens: tokens, Log: log,
	})
	w.must("make the API", err)
	api.Mount(floor)

	l, err := net.Listen("tcp", "127.0.0.1:0")
	w.must("listen", err)
	proxies, err := cache.New(w.rest, cache.Options{Scheme: w.client.Scheme(), DefaultNamespaces: map[string]cache.Config{w.namespace: {}}})
	w.must("make a cache", err)
	ctx, stop := context.WithCancel(w.ctx)
	var parts sync.WaitGroup
	parts.Go(func() { d.Run(ctx) })
	parts.Go(func() { _ = proxies.Start(ctx) })
	parts.Go(func() { _ = server.Serve(ctx, l, api, log) })
	b.Cleanup(func() {
		stop()
		parts.Wait()
	})
	w.must("watch the Proxies", api.Watch(ctx, proxies))
	<-d.Opened()
	return "http://" + l.Addr().String(), token
}

// tokensFile makes a file with one token, which may lease.
func (w *world) tokensFile(path string, log *slog.Logger) (tokens *server.Tokens, token string) {
	w.tb.Helper()
	token, hash := server.NewToken()
	data, err := yaml.Marshal(map[string]any{"tokens": []any{
		map[string]any{"name": "crawler", "sha256": hash, "scopes": []string{string(server.ScopeCrawler)}},
	}})
	w.must("write the tokens file", err)
	w.must("write the tokens file", os.WriteFile(path, data, 0o600))
	tokens, err = server.OpenTokens(path, log, clock.RealClock{})
	w.must("read the tokens file", err)
	return tokens, token
}

// nobody is told nothing.
type nobody struct{}

func (nobody) Lease(context.Context, wire.ProxyRef) error { return nil }

// leaseRequest and leaseAnswer are the bodies of a lease.
type leaseRequest struct {
	Selector   map[string]string `json:"selector"`
	Target     string            `json:"target"`
	TTLSeconds int64             `json:"ttlSeconds"`
}

type leaseAnswer struct {
	LeaseID string `json:"leaseID"`
	Proxy   struct {
		Namespace  string            `json:"namespace"`
		Name       string            `json:"name"`
		Scheme     crawl.Scheme      `json:"scheme"`
		Host       string            `json:"host"`
		Port       int32             `json:"port"`
		URL        string            `json:"url"`
		Attributes map[string]string `json:"attributes"`
	} `json:"proxy"`
	ExpiresAt  time.Time `json:"expiresAt"`
	TTLSeconds int64     `json:"ttlSeconds"`
}

// floor has handlers that do nothing but read and write JSON.
func floor(r chi.Router) {
	r.Post("/floor/leases", func(w http.ResponseWriter, r *http.Request) {
		var asked leaseRequest
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		a := leaseAnswer{LeaseID: rand.Text(), ExpiresAt: time.Now().UTC(), TTLSeconds: asked.TTLSeconds}
		a.Proxy.Namespace, a.Proxy.Name, a.Proxy.Scheme, a.Proxy.Host, a.Proxy.Port = "bench-abcde", "p-00000", "http", "127.32.0.1", 3128
		a.Proxy.URL, a.Proxy.Attributes = "http://127.32.0.1:3128", map[string]string{}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(a)
	})
	r.Delete("/floor/leases/{id}", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
}

// pairs sends pairs of requests.
type pairs struct {
	url, token string

	client *http.Client
	took   []time.Duration
	spent  time.Duration
}

func (p *pairs) forget() { p.took, p.spent = nil, 0 }

// rate is pairs a second.
func (p *pairs) rate() float64 { return float64(len(p.took)) / p.spent.Seconds() }

func (p *pairs) run(b *testing.B, during time.Duration) {
	b.Helper()
	if p.client == nil {
		p.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: httpConnections, MaxConnsPerHost: httpConnections}}
	}
	took := make([][]time.Duration, httpConnections)
	start := time.Now()
	var all sync.WaitGroup
	for i := range httpConnections {
		all.Go(func() {
			for time.Since(start) < during {
				sent := time.Now()
				if err := p.pair(b.Context()); err != nil {
					b.Errorf("lease: %v", err)
					return
				}
				took[i] = append(took[i], time.Since(sent))
			}
		})
	}
	all.Wait()
	p.spent += time.Since(start)
	p.took = append(p.took, slices.Concat(took...)...)
}

// pair leases and releases.
func (p *pairs) pair(ctx context.Context) error {
	body, err := json.Marshal(leaseRequest{Target: "shop.example", TTLSeconds: 60})
	if err != nil {
		return err
	}
	var lease leaseAnswer
	if err := p.send(ctx, http.MethodPost, p.url, body, http.StatusCreated, &lease); err != nil {
		return err
	}
	return p.send(ctx, http.MethodDelete, p.url+"/"+lease.LeaseID, nil, http.StatusNoContent, nil)
}

func (p *pairs) send(ctx context.Context, method, url string, body []byte, want int, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+p.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode != want:
		return fmt.Errorf("%s %s answered %d %s", method, url, resp.StatusCode, data)
	case into == nil:
		return nil
	}
	return json.Unmarshal(data, into)
}

// fsyncTime is what it takes in the mean until 16 KiB that were appended to a file are on
// its disk.
func fsyncTime(b *testing.B) time.Duration {
	b.Helper()
	const times = 100
	f, err := os.Create(filepath.Join(b.TempDir(), "fsync"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	block := make([]byte, 16<<10)
	start := time.Now()
	for range times {
		if _, err := f.Write(block); err != nil {
			b.Fatal(err)
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil { // #nosec G115 -- a file descriptor
			b.Fatal(err)
		}
	}
	return time.Since(start) / times
}
