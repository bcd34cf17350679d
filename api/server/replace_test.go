package server_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
)

func TestMain(m *testing.M) { os.Exit(localtest.Main(m)) }

// TestReplace asks on a real API server: what counts is what it stores, and what it
// lets through.
func TestReplace(t *testing.T) {
	c := localtest.Client(t, localtest.ControlPlane(t))
	ns := localtest.Namespace(t, c, "replace")
	w := newWorld(t)
	w.options.Objects = c
	w.build()
	create := func(t *testing.T, name string, spec crawl.ProxySpec, finalizers ...string) *crawl.Proxy {
		t.Helper()
		p := &crawl.Proxy{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Finalizers: finalizers}, Spec: spec}
		if err := c.Create(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	annotation := func(t *testing.T, p *crawl.Proxy) string {
		t.Helper()
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
			t.Fatal(err)
		}
		return p.Annotations[crawl.AnnotationReplace]
	}
	ask := func(name, body string) reply {
		return w.do(http.MethodPost, "/v1/proxies/"+ns+"/"+name+"/replace", body)
	}
	managed := crawl.ProxySpec{Provider: "process"}
	demo := create(t, "demo", managed)

	t.Run("the wish is on the object before the answer", func(t *testing.T) {
		r := ask("demo", "")
		value, _ := r.field(t, "replace").(string)
		if r.code != http.StatusAccepted || !regexp.MustCompile(`^\d{8}T\d{6}Z-[a-z2-7]{8}$`).MatchString(value) {
			t.Fatalf("%d %s", r.code, r.text)
		}
		want := map[string]any{"workflowID": "proxy/" + ns + "/demo/" + string(demo.UID), "replace": annotation(t, demo)}
		if diff := cmp.Diff(want, r.object(t)); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
	})
	t.Run("the reason can be read there, and each wish is another", func(t *testing.T) {
		before := annotation(t, demo)
		r := ask("demo", `{"reason": "banned everywhere, é"}`)
		if got := annotation(t, demo); r.code != http.StatusAccepted || got == before || !strings.HasSuffix(got, "Z-"+got[17:25]+" banned everywhere, é") {
			t.Errorf("%d, annotation %q after %q", r.code, got, before)
		}
	})
	create(t, "external", crawl.ProxySpec{Mode: crawl.ModeExternal, Endpoint: &crawl.Endpoint{Host: "127.0.0.1"}})
	going := create(t, "going", managed, crawl.Finalizer)
	if err := c.Delete(t.Context(), going); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		proxy, body string
		code        int
		word        string
	}{
		"nobody is asked":         {"none", "", 404, "unknown_proxy"},
		"no object has this name": {"%2e%2e", "", 404, "unknown_proxy"},
		"an External proxy":       {"external", "", 409, "not_managed"},
		"a proxy that goes":       {"going", "", 409, "being_deleted"},
		"a long reason":           {"demo", `{"reason": "` + strings.Repeat("a", 231) + `"}`, 400, "invalid_body"},
		"one of long characters":  {"demo", `{"reason": "` + strings.Repeat("é", 116) + `"}`, 400, "invalid_body"},
		"a reason of two lines":   {"demo", `{"reason": "a\nb"}`, 400, "invalid_body"},
		"an unknown field":        {"demo", `{"why": "a"}`, 400, "invalid_body"},
	} {
		t.Run(name+" is refused", func(t *testing.T) {
			if r := ask(tt.proxy, tt.body); r.code != tt.code || r.field(t, "error") != tt.word {
				t.Errorf("%d %s, want %d %s", r.code, r.text, tt.code, tt.word)
			}
		})
	}
	t.Run("the limit is told, in bytes", func(t *testing.T) {
		if r := ask("demo", `{"reason": "`+strings.Repeat("é", 116)+`"}`); r.field(t, "message") != "reason has 232 bytes, at most 230 are allowed" {
			t.Errorf("%d %s", r.code, r.text)
		}
	})
	t.Run("the longest wish is told as it is, once it is answered", func(t *testing.T) {
		if r := ask("demo", `{"reason": "`+strings.Repeat("é", 115)+`"}`); r.code != http.StatusAccepted || r.field(t, "replace") != annotation(t, demo) {
			t.Fatalf("%d %s", r.code, r.text)
		}
		if got := demo.ReplaceAsked(); got != demo.Annotations[crawl.AnnotationReplace] {
			t.Errorf("status.observedReplace will be %q", got)
		}
	})
	if got := annotation(t, going); got != "" {
		t.Errorf("a proxy that goes was asked: %q", got)
	}
}

// away is a Kubernetes API that does not answer.
type away struct{ client.Client }

func (away) Get(ctx context.Context, _ client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	if _, bounded := ctx.Deadline(); !bounded {
		return errors.New("nobody bounds this call")
	}
	return errors.New("connection refused by 10.0.0.1")
}

func TestReplaceWithoutKubernetes(t *testing.T) {
	w := newWorld(t, proxy("demo"))
	w.options.Objects = away{}
	w.build()
	start := time.Now()
	r := w.do(http.MethodPost, "/v1/proxies/crawl/demo/replace", "")
	if r.code != http.StatusServiceUnavailable || strings.Contains(r.text, "10.0.0.1") || time.Since(start) > 5*time.Second {
		t.Errorf("%d %s after %s", r.code, r.text, time.Since(start))
	}
	if !strings.Contains(w.log.String(), "connection refused by 10.0.0.1") {
		t.Errorf("the log does not tell why:\n%s", w.log)
	}
}
