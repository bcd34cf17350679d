package health_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"example.com/fairlead/activities/addon/health"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

func TestSummary(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	config, service, data, deploy := w.make(settings), w.make(balancer), w.make(claim), w.make(web+oneOfTwo)
	gone := config
	gone.Name = "gone"
	late := w.make(strings.ReplaceAll(web, "web", "late") + `
status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, unavailableReplicas: 2, conditions: [
  {type: Progressing, status: "False", reason: ProgressDeadlineExceeded, message: ReplicaSet "late-5d4" has timed out progressing.}]}
`)
	unknown := config
	unknown.Group = "nowhere.example.com"
	in := w.namespace
	for name, c := range map[string]struct {
		objects []health.Owned
		want    addons.Health
	}{
		"nothing was applied": {nil, addons.Health{Status: addons.HealthHealthy}},
		"all is well":         {[]health.Owned{config}, addons.Health{Status: addons.HealthHealthy}},
		"one that is not well": {[]health.Owned{config, deploy},
			addons.Health{Status: addons.HealthProgressing, Message: "Deployment " + in + "/web: 1 of 2 replicas are available"}},
		"of equals, the first": {[]health.Owned{config, deploy, service, data},
			addons.Health{Status: addons.HealthProgressing, Message: "Deployment " + in + "/web: 1 of 2 replicas are available; and 2 more"}},
		"what is unknown is less than what progresses": {[]health.Owned{unknown, data},
			addons.Health{Status: addons.HealthProgressing, Message: "PersistentVolumeClaim " + in + "/data: is not bound to a volume yet; and 1 more"}},
		"what is degraded is more": {[]health.Owned{unknown, data, late}, addons.Health{
			Status:  addons.HealthDegraded,
			Message: "Deployment " + in + `/late: Progress deadline exceeded: ReplicaSet "late-5d4" has timed out progressing; and 2 more`,
		}},
		"what is missing is the most": {[]health.Owned{unknown, data, late, gone},
			addons.Health{Status: addons.HealthMissing, Message: "ConfigMap " + in + "/gone: is not there; and 3 more"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, w.check(c.objects...)); diff != "" {
				t.Errorf("health (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnObjectThatWasMadeAgainIsMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	applied := w.make(settings)
	w.remove(applied, "v1")
	again := w.make(settings)

	want := addons.Health{
		Status:  addons.HealthMissing,
		Message: "ConfigMap " + w.namespace + "/settings: was deleted, and what has its name is another object",
	}
	if diff := cmp.Diff(want, w.check(applied)); diff != "" {
		t.Errorf("health of what was applied (-want +got):\n%s", diff)
	}
	anyUID := health.Owned{ID: applied.ID}
	if diff := cmp.Diff(addons.Health{Status: addons.HealthHealthy}, w.check(again, anyUID)); diff != "" {
		t.Errorf("health of what there is (-want +got):\n%s", diff)
	}
}

func TestAMessageIsShort(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deploy := w.make(web + `
status: {observedGeneration: 1, conditions: [{type: ReplicaFailure, status: "True", reason: FailedCreate, message: "first\nthird ` + strings.Repeat("ä", 5000) + `"}]}
`)
	got := w.check(deploy).Message
	if len(got) > 400 || !utf8.ValidString(got) || !strings.HasPrefix(got, "Deployment "+w.namespace+"/web: 0 of 2 replicas are there: first third ä") {
		t.Errorf("message of %d bytes: %q", len(got), got)
	}
}

// wire records what comes from the API server.
type wire struct {
	http.RoundTripper

	mu   sync.Mutex
	seen strings.Builder
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := w.RoundTripper.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.TeeReader(resp.Body, w), resp.Body}
	return resp, nil
}

func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen.Write(p)
}

func TestTheContentOfSecretsIsNotRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	secret := w.make("apiVersion: v1\nkind: Secret\nmetadata: {name: key, finalizers: [example.com/hold]}\nstringData: {password: hunter2}\n")
	seen := &wire{}
	recorded := w.client(func(c *rest.Config) {
		c.Wrap(func(rt http.RoundTripper) http.RoundTripper { seen.RoundTripper = rt; return seen })
	})

	if diff := cmp.Diff(addons.Health{Status: addons.HealthHealthy}, w.checkAs(recorded, w.mapper(), secret)); diff != "" {
		t.Errorf("health (-want +got):\n%s", diff)
	}
	w.remove(secret, "v1")
	want := addons.Health{
		Status:  addons.HealthProgressing,
		Message: "Secret " + w.namespace + "/key: is being deleted, held by the finalizers example.com/hold",
	}
	if diff := cmp.Diff(want, w.checkAs(recorded, w.mapper(), secret)); diff != "" {
		t.Errorf("health of a Secret that is being deleted (-want +got):\n%s", diff)
	}
	if answers := seen.seen.String(); !strings.Contains(answers, string(secret.UID)) || strings.Contains(answers, "aHVudGVyMg==") {
		t.Errorf("answers of the API server, which are to have metadata alone:\n%s", answers)
	}
}

func TestAnOutageIsNoHealth(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	config := w.make(settings)

	away := w.client(func(c *rest.Config) {
		c.Wrap(func(http.RoundTripper) http.RoundTripper { return refusing{} })
	})
	_, err := health.Check(t.Context(), away, w.mapper(), []health.Owned{config})
	if !errors.Is(err, errRefused) || !strings.Contains(err.Error(), config.String()) {
		t.Errorf("without an API server: %v, want an error that names the object", err)
	}
	down := w.client(func(c *rest.Config) {
		c.Wrap(func(http.RoundTripper) http.RoundTripper { return unavailable{} })
	})
	_, err = health.Check(t.Context(), down, w.mapper(), []health.Owned{config})
	if !apierrors.IsServiceUnavailable(err) {
		t.Errorf("while the API server is not available: %v, want its error", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := health.Check(ended, w.Client, w.mapper(), []health.Owned{config}); !errors.Is(err, context.Canceled) {
		t.Errorf("after its end: %v, want %v", err, context.Canceled)
	}
}

var errRefused = errors.New("connection refused")

type refusing struct{}

func (refusing) RoundTrip(*http.Request) (*http.Response, error) { return nil, errRefused }

type unavailable struct{}

func (unavailable) RoundTrip(req *http.Request) (*http.Response, error) {
	r := httptest.NewRecorder()
	r.WriteHeader(http.StatusServiceUnavailable)
	resp := r.Result()
	resp.Request = req
	return resp, nil
}
