package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/fairlead/activities/addon/charts"
)

const (
	indexBytes    = 26 << 20
	indexCharts   = 160
	indexVersions = 110
	indexAddons   = 10
)

// roleCharts resolves charts of one repository, all at the same time.
const roleCharts = "bench-charts"

// resolvedCharts is what a process in that role says on its standard output.
type resolvedCharts struct {
	Digests map[string]string
	Seconds float64
	// MiB is how much larger than before the process was when it was largest.
	MiB float64
}

// BenchmarkChartIndex has 10 add-ons resolve their charts from a repository of 26 MB.
func BenchmarkChartIndex(b *testing.B) {
	index := writeIndex(b)
	var fetches atomic.Int64
	repo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fetches.Add(1)
		http.ServeFile(w, r, index)
	}))
	defer repo.Close()
	rounds := 0
	var worst resolvedCharts
	for b.Loop() {
		rounds++
		got := resolveApart(b, repo.URL, b.TempDir())
		for i := range indexAddons {
			name := chartOfAddon(i)
			if want := "sha256:" + chartDigest(name, indexVersions-1); got.Digests[name] != want {
				b.Fatalf("%s has the digest %s, want %s", name, got.Digests[name], want)
			}
		}
		worst.Seconds, worst.MiB = max(worst.Seconds, got.Seconds), max(worst.MiB, got.MiB)
	}
	b.ReportMetric(0, "ns/op") // it has the start of a process in it
	b.ReportMetric(float64(fetches.Load())/float64(rounds), "index-fetches")
	b.ReportMetric(worst.Seconds, "seconds")
	b.ReportMetric(worst.MiB, "MiB")
}

// resolveApart does it in a process of its own, which has nothing else in its memory.
func resolveApart(b *testing.B, repo, cache string) resolvedCharts {
	b.Helper()
	command := selfCommand(b, roleCharts, repo, cache)
	child := exec.Command(command[0], command[1:]...)
	child.Stderr = os.Stderr
	out, err := child.Output()
	if err != nil {
		b.Fatal(err)
	}
	var got resolvedCharts
	if err := json.Unmarshal(out, &got); err != nil {
		b.Fatal(err)
	}
	return got
}

// runCharts resolves the charts of all add-ons; its arguments are the repository and
// the folder of the cache.
func runCharts(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("want a repository and a folder, not %q", args)
	}
	f := &charts.Fetcher{Dir: args[1]}
	before, err := ownMemory()
	if err != nil {
		return err
	}
	result := resolvedCharts{Digests: map[string]string{}}
	start := time.Now()
	var mu sync.Mutex
	var all errgroup.Group
	for i := range indexAddons {
		all.Go(func() error {
			name := chartOfAddon(i)
			r, err := f.Resolve(ctx, charts.Source{Repo: args[0], Chart: name}, nil)
			mu.Lock()
			defer mu.Unlock()
			result.Digests[name] = r.Digest
			return err
		})
	}
	if err := all.Wait(); err != nil {
		return err
	}
	result.Seconds = time.Since(start).Seconds()
	after, err := ownMemory()
	if err != nil {
		return err
	}
	result.MiB = after.peak - before.resident
	return json.NewEncoder(os.Stdout).Encode(result)
}

func ownMemory() (memory, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return memory{}, err
	}
	return parseMemory(status)
}

// chartOfAddon spreads the add-ons over the index, to its first and last chart.
func chartOfAddon(i int) string { return chartOfIndex(i * (indexCharts - 1) / (indexAddons - 1)) }

func chartOfIndex(i int) string { return fmt.Sprintf("chart-%03d", i) }

// chartDigest is that of no archive: none is fetched.
func chartDigest(chart string, version int) string {
	return fmt.Sprintf("%064x", []byte(fmt.Sprintf("%s-%d", chart, version)))
}

// writeIndex writes one as Helm does, with what the charts of large repositories say
// of themselves.
func writeIndex(b *testing.B) string {
	b.Helper()
	file, err := os.Create(b.TempDir() + "/index.yaml")
	if err != nil {
		b.Fatal(err)
	}
	// What is the same for all versions makes each as large as it has to be.
	const own = 830
	filler := strings.Repeat("        - kind: added\n          description: \"a: 'change' # and \\\"what\\\" it is\"\n", (indexBytes/indexCharts/indexVersions-own)/71)
	out := bufio.NewWriter(file)
	write := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) } // Flush tells
	write("apiVersion: v1\nentries:\n")
	for i := range indexCharts {
		write("  %s:\n", chartOfIndex(i))
		for v := indexVersions - 1; v >= 0; v-- {
			write("%s", releaseOf(chartOfIndex(i), v, filler))
		}
	}
	write("generated: \"2026-01-02T03:04:05Z\"\n")
	if err := out.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := file.Close(); err != nil {
		b.Fatal(err)
	}
	return sized(b, file.Name())
}

func sized(b *testing.B, path string) string {
	b.Helper()
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	if size := info.Size(); size < indexBytes*9/10 || size > indexBytes*11/10 {
		b.Fatalf("the index has %d bytes, want about %d", size, indexBytes)
	}
	return path
}

func releaseOf(chart string, version int, filler string) string {
	return fmt.Sprintf(`  - annotations:
      artifacthub.io/changes: |
%s    apiVersion: v2
    appVersion: 1.%d.0
    created: "2026-01-02T03:04:05.678901234Z"
    dependencies:
    - name: common
      repository: oci://registry.example.com/charts
      tags:
      - bitnami-common
      version: 2.x.x
    description: A chart of a benchmark, one of very many.
    digest: %s
    home: https://charts.example.com/%s
    keywords:
    - benchmark
    maintainers:
    - name: nobody
      url: https://example.com
    name: %s
    sources:
    - https://git.example.com/charts/%s
    urls:
    - https://charts.example.com/%s-1.%d.0.tgz
    version: 1.%d.0
`, filler, version, chartDigest(chart, version), chart, chart, chart, chart, version, version)
}
