package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"
)

// writes is how many requests the API server has taken so far that change something: no dry
// runs, and no Leases, which it has some of its own.
func (w *world) writes() int {
	w.tb.Helper()
	c, err := kubernetes.NewForConfig(w.rest)
	w.must("open the API server", err)
	data, err := c.RESTClient().Get().AbsPath("/metrics").DoRaw(w.ctx)
	w.must("read the metrics of the API server", err)
	n, err := parseWrites(data)
	w.must("read the metrics of the API server", err)
	return n
}

func parseWrites(metrics []byte) (int, error) {
	sum, found := 0, false
	for lines := bufio.NewScanner(bytes.NewReader(metrics)); lines.Scan(); {
		labels, value, ok := strings.Cut(lines.Text(), "} ")
		if !ok || !strings.HasPrefix(labels, "apiserver_request_total{") {
			continue
		}
		found = true
		if !isWrite(labels) {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, fmt.Errorf("%s has %q: %w", labels, value, err)
		}
		sum += int(n)
	}
	if !found {
		return 0, fmt.Errorf("apiserver_request_total is not among them")
	}
	return sum, nil
}

func isWrite(labels string) bool {
	for _, none := range []string{`dry_run="All"`, `group="coordination.k8s.io"`, `group="authentication.k8s.io"`, `group="authorization.k8s.io"`} {
		if strings.Contains(labels, none) {
			return false
		}
	}
	for _, verb := range []string{"POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION"} {
		if strings.Contains(labels, `verb="`+verb+`"`) {
			return true
		}
	}
	return false
}

func TestParseWrites(t *testing.T) {
	got, err := parseWrites([]byte(`# TYPE apiserver_request_total counter
apiserver_request_total{code="200",dry_run="",group="",resource="secrets",verb="APPLY"} 2
apiserver_request_total{code="200",dry_run="All",group="",resource="secrets",verb="APPLY"} 10
apiserver_request_total{code="200",dry_run="",group="",resource="secrets",verb="GET"} 100
apiserver_request_total{code="200",dry_run="",group="coordination.k8s.io",resource="leases",verb="PUT"} 1000
apiserver_request_total{code="201",dry_run="",group="apps",resource="deployments",verb="POST"} 1.0e+04
other_total{verb="POST"} 7
`))
	if err != nil || got != 10_002 {
		t.Errorf("%d writes, error %v; want 10002", got, err)
	}
	if _, err := parseWrites([]byte("other 1\n")); err == nil {
		t.Error("metrics without requests have some")
	}
}
