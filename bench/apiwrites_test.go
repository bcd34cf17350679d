package bench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"
)

// writes is how many requests the API server has taken so far that change something: no dry
// runs, and no Leases, which it has some of its own.
func (w *world) writes() int {
	w.tb.Helper()
	return w.requests(isWrite)
}

// requests is how many requests of some kind the API server has taken so far.
func (w *world) requests(of func(labels string) bool) int {
	w.tb.Helper()
	c, err := kubernetes.NewForConfig(w.rest)
	w.must("open the API server", err)
	data, err := c.RESTClient().Get().AbsPath("/metrics").DoRaw(w.ctx)
	w.must("read the metrics of the API server", err)
	n, err := countRequests(data, of)
	w.must("read the metrics of the API server", err)
	return n
}

func countRequests(metrics []byte, of func(labels string) bool) (int, error) {
	sum, found := 0, false
	for lines := bufio.NewScanner(bytes.NewReader(metrics)); lines.Scan(); {
		labels, value, ok := strings.Cut(lines.Text(), "} ")
		if !ok || !strings.HasPrefix(labels, "apiserver_request_total{") {
			continue
		}
		found = true
		if !of(labels) {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, fmt.Errorf("%s has %q: %w", labels, value, err)
		}
		sum += int(n)
	}
	if !found {
		return 0, errors.New("apiserver_request_total is not among them")
	}
	return sum, nil
}

func isWrite(labels string) bool {
	return has(labels, "verb", "POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION") &&
		!has(labels, "dry_run", "All") && !has(labels, "group", "coordination.k8s.io", "authentication.k8s.io", "authorization.k8s.io")
}

// isRequest leaves out what lasts, and the Leases of the API server.
func isRequest(labels string) bool {
	return !has(labels, "verb", "WATCH", "CONNECT") && !has(labels, "group", "coordination.k8s.io")
}

// has says whether a label has one of some values.
func has(labels, name string, values ...string) bool {
	return slices.ContainsFunc(values, func(v string) bool { return strings.Contains(labels, name+`="`+v+`"`) })
}

func TestCountRequests(t *testing.T) {
	got, err := countRequests([]byte(`# TYPE apiserver_request_total counter
apiserver_request_total{code="200",dry_run="",group="",resource="secrets",verb="APPLY"} 2
apiserver_request_total{code="200",dry_run="All",group="",resource="secrets",verb="APPLY"} 10
apiserver_request_total{code="200",dry_run="",group="",resource="secrets",verb="GET"} 100
apiserver_request_total{code="200",dry_run="",group="coordination.k8s.io",resource="leases",verb="PUT"} 1000
apiserver_request_total{code="201",dry_run="",group="apps",resource="deployments",verb="POST"} 1.0e+04
other_total{verb="POST"} 7
`), isWrite)
	if err != nil || got != 10_002 {
		t.Errorf("%d writes, error %v; want 10002", got, err)
	}
	if _, err := countRequests([]byte("other 1\n"), isWrite); err == nil {
		t.Error("metrics without requests have some")
	}
}
