package addon_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"example.com/fairlead/activities/addon/charts"
	"example.com/fairlead/activities/addon/cluster"
	"example.com/fairlead/activities/addon/kept"
	"example.com/fairlead/activities/addon/look"
	"example.com/fairlead/activities/addon/render/rendertest"
	"example.com/fairlead/activities/addon/setstore"
	"example.com/fairlead/activities/addon/source"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
)

// repository serves versions of one chart, and remembers how it was asked for them.
type repository struct {
	*httptest.Server

	mu    sync.Mutex
	files map[string][]byte
	asked []string
}

func newRepository(t *testing.T, versions ...string) *repository {
	t.Helper()
	r := &repository{}
	r.publish(t, versions...)
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *repository) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	r.mu.Lock()
	content, is := r.files[in.URL.Path]
	how := "whole"
	if in.Header.Get("If-None-Match") != "" {
		how = "if changed"
	}
	r.asked = append(r.asked, strings.TrimPrefix(in.URL.Path, "/")+" "+how)
	r.mu.Unlock()
	if !is {
		http.NotFound(w, in)
		return
	}
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(content)))
	http.ServeContent(w, in, "", time.Time{}, bytes.NewReader(content))
}

func (r *repository) publish(t *testing.T, versions ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files = map[string][]byte{}
	index := "apiVersion: v1\nentries:\n  web:\n"
	for _, v := range versions {
		archive := pack(t, map[string]string{
			"web/Chart.yaml":          "apiVersion: v2\nname: web\nversion: " + v + "\n",
			"web/templates/site.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}'}\ndata: {page: hello}\n",
		})
		r.files["/web-"+v+".tgz"] = archive
		index += fmt.Sprintf("  - {version: %s, digest: %x, urls: [web-%s.tgz]}\n", v, sha256.Sum256(archive), v)
	}
	r.files["/index.yaml"] = []byte(index)
}

// took are the requests since the last call.
func (r *repository) took() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := r.asked
	r.asked = nil
	return asked
}

func pack(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zipped)
	for _, name := range slices.Sorted(maps.Keys(files)) { // the same archive each time
		content := files[name]
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(archive, content); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []io.Closer{archive, zipped} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return packed.Bytes()
}

// looker is a real one, for a namespace of its own. now is the clock of what it fetches.
func looker(t *testing.T, now func() time.Time) (l *look.Looker, namespace string) {
	t.Helper()
	config := localtest.ControlPlane(t)
	live := localtest.Client(t, config)
	namespace = localtest.Namespace(t, live, "sweep")
	sets, err := setstore.Open(t.Context(), setstore.Options{Client: live, Namespace: namespace, Clock: clock.RealClock{}, Random: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	c, err := cluster.Open(config, "")
	if err != nil {
		t.Fatal(err)
	}
	return &look.Looker{
		Sources: &source.Sources{
			Charts: &charts.Fetcher{Dir: t.TempDir(), Now: now}, Renderer: rendertest.InProcess{},
			Cluster: c, Client: live, Namespace: namespace, Hash: sets.Hash,
		},
		Cluster: c, Store: kept.Store{Store: sets}, Now: time.Now,
	}, namespace
}

// write makes the status of an add-on tell what is to be seen of it.
func write(t *testing.T, l *look.Looker, a *addons.Addon) {
	t.Helper()
	now, err := l.Look(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	a.Status = addons.AddonStatus{
		Phase: addons.PhaseOutOfSync, Revision: now.Render.Revision,
		Resolved: &addons.Resolved{Version: now.Render.Version, Digest: now.Render.Digest},
		Plan:     &addons.Plan{Hash: now.Plan.Hash},
	}
}

func TestASweepAsksARepositoryOnceForAllThatShareIt(t *testing.T) {
	shop := newRepository(t, "1.0.0")
	var later time.Duration
	l, namespace := looker(t, func() time.Time { return time.Now().Add(later) })
	var all []*addons.Addon
	for i := range 10 {
		a := told(fmt.Sprintf("web-%d", i))
		version := "1.0.0"
		if i < 3 {
			version = "^1.0.0"
		}
		a.Spec = addons.AddonSpec{Namespace: namespace, Source: addons.AddonSource{Helm: &addons.HelmSource{Repo: shop.URL, Chart: "web", Version: version}}}
		write(t, l, a)
		all = append(all, a)
	}
	if diff := cmp.Diff([]string{"index.yaml whole", "web-1.0.0.tgz whole"}, shop.took()); diff != "" {
		t.Fatalf("asked for (-want +got):\n%s", diff)
	}
	s, w := sweepOf(t, l, all)
	for _, step := range []struct {
		what         string
		do           func()
		woken, asked []string
	}{
		{what: "nothing moved", asked: []string{"index.yaml if changed"}},
		{
			what:  "a version came that three of them want",
			do:    func() { shop.publish(t, "1.0.0", "1.1.0") },
			woken: []string{"web-0", "web-1", "web-2"},
			asked: []string{"index.yaml if changed", "web-1.1.0.tgz whole"},
		},
		{
			what: "somebody made an object that is planned",
			do: func() {
				shop.publish(t, "1.0.0")
				o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web-7"}}
				if err := l.Cluster.Client.Create(t.Context(), o); err != nil {
					t.Fatal(err)
				}
			},
			woken: []string{"web-7"},
			asked: []string{"index.yaml if changed"},
		},
	} {
		t.Run(step.what, func(t *testing.T) {
			later += time.Minute // so that what was fetched is not fresh
			if step.do != nil {
				step.do()
			}
			if got := run(t, s); got.Problem != "" || got.Woken != len(step.woken) {
				t.Errorf("the result is %+v", got)
			}
			if diff := cmp.Diff(step.woken, w.took()); diff != "" {
				t.Errorf("woken (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(step.asked, shop.took()); diff != "" {
				t.Errorf("asked for (-want +got):\n%s", diff)
			}
		})
	}
}
