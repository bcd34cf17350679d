package source_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"example.com/fairlead/activities/addon/charts"
	"example.com/fairlead/activities/addon/cluster"
	"example.com/fairlead/activities/addon/kept"
	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/render"
	"example.com/fairlead/activities/addon/render/rendertest"
	"example.com/fairlead/activities/addon/source"
	"example.com/fairlead/activities/fetch"
	"example.com/fairlead/activities/git"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
)

func TestMain(m *testing.M) { os.Exit(localtest.Main(m)) }

// canary is in Secrets, and must be nowhere else.
const canary = "c4nary-in-a-coal-mine"

// world is the real API server, and a repository of charts.
type world struct {
	*source.Sources

	t       *testing.T
	admin   client.Client
	cluster *cluster.Cluster
	charts  *site
	renders *counted
}

func newWorld(t *testing.T) *world {
	t.Helper()
	config := localtest.ControlPlane(t)
	w := &world{t: t, admin: localtest.Client(t, config), renders: &counted{Renderer: rendertest.InProcess{}}, charts: newSite(t)}
	var err error
	w.cluster, err = cluster.Open(config, "")
	w.must(err)
	transport := charts.NewTransport()
	t.Cleanup(transport.CloseIdleConnections)
	w.Sources = &source.Sources{
		Charts: &charts.Fetcher{Dir: t.TempDir(), Transport: transport}, Git: &git.Reader{Dir: filepath.Join(t.TempDir(), "git")},
		Renderer: w.renders, Cluster: w.cluster, Client: w.admin, Namespace: localtest.Namespace(t, w.admin, "system"),
		Hash: func(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(append([]byte("key"), b...))) },
	}
	return w
}

// counted counts renders.
type counted struct {
	source.Renderer

	n int
}

func (c *counted) Chart(ctx context.Context, archive []byte, req render.Request) (manifest.Set, []render.Answer, render.Digest, error) {
	c.n++
	return c.Renderer.Chart(ctx, archive, req)
}

// site is a repository of charts.
type site struct {
	*httptest.Server

	files map[string][]byte
	// password is asked for if it is set; the user is robot.
	password string
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{files: map[string][]byte{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); s.password != "" && (user != "robot" || password != s.password) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if s.files[r.URL.Path] == nil {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(s.files[r.URL.Path])
	}))
	t.Cleanup(s.Close)
	return s
}

// serve has the chart shop of these templates in the repository, as its only version.
func (s *site) serve(t *testing.T, version string, templates ...string) {
	t.Helper()
	files := map[string]string{}
	for i, text := range templates {
		files[fmt.Sprintf("templates/%d.yaml", i)] = text
	}
	s.serveFiles(t, version, files)
}

func (s *site) serveFiles(t *testing.T, version string, files map[string]string) {
	t.Helper()
	files["Chart.yaml"] = "apiVersion: v2\nname: shop\nversion: " + version + "\n"
	packed := pack(t, files)
	s.files["/shop.tgz"] = packed
	s.files["/index.yaml"] = fmt.Appendf(nil, "entries:\n  shop:\n  - version: %s\n    digest: %x\n    urls: [shop.tgz]\n", version, sha256.Sum256(packed))
}

func pack(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	all := tar.NewWriter(zipped)
	for name, text := range files {
		if err := all.WriteHeader(&tar.Header{Name: "shop/" + name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(all, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := all.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// shop is an add-on of the chart shop.
func (w *world) shop(edits ...func(*addons.AddonSpec)) *addons.Addon {
	a := &addons.Addon{}
	a.Name = "shop"
	a.Spec.Namespace = "trade"
	a.Spec.Source.Helm = &addons.HelmSource{Repo: w.charts.URL, Chart: "shop", Version: ">=0"}
	for _, edit := range edits {
		edit(&a.Spec)
	}
	return a
}

func (w *world) rendered(a *addons.Addon, known ...kept.Render) source.Rendered {
	w.t.Helper()
	r, err := w.Render(w.t.Context(), a, known...)
	w.must(err)
	return r
}

// fails checks the words of an error, and that it gives nothing away.
func (w *world) fails(a *addons.Addon, words ...string) {
	w.t.Helper()
	_ = w.told(a, words)
}

// failsForGood is fails of what no retry helps against.
func (w *world) failsForGood(a *addons.Addon, words ...string) {
	w.t.Helper()
	if err := w.told(a, words); !errors.Is(err, fetch.ErrPermanent) {
		w.t.Errorf("it is not permanent: %v", err)
	}
}

func (w *world) told(a *addons.Addon, words []string) error {
	w.t.Helper()
	_, err := w.Render(w.t.Context(), a)
	if err == nil {
		w.t.Fatal("there is no error")
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			w.t.Errorf("the error does not say %q: %v", word, err)
		}
	}
	if strings.Contains(err.Error(), canary) || len(err.Error()) > 4096 {
		w.t.Errorf("the error tells the secret, or is too long: %v", err)
	}
	return err
}

// secret makes a Secret in the system namespace.
func (w *world) secret(name, key, text string) {
	w.t.Helper()
	o := &corev1.Secret{StringData: map[string]string{key: text}}
	o.Namespace, o.Name = w.Namespace, name
	w.must(w.admin.Create(w.t.Context(), o))
}

func (w *world) configMap(name, key, text string) *corev1.ConfigMap {
	w.t.Helper()
	o := &corev1.ConfigMap{Data: map[string]string{key: text}}
	o.Namespace, o.Name = w.Namespace, name
	w.must(w.admin.Create(w.t.Context(), o))
	return o
}

// make creates what text says, until the test ends.
func (w *world) make(text string) *unstructured.Unstructured {
	w.t.Helper()
	o := &unstructured.Unstructured{}
	w.must(yaml.Unmarshal([]byte(text), o))
	w.must(w.admin.Create(w.t.Context(), o))
	w.t.Cleanup(func() {
		if err := client.IgnoreNotFound(w.admin.Delete(context.WithoutCancel(w.t.Context()), o)); err != nil {
			w.t.Error(err)
		}
	})
	return o
}

// value is that of a field of an object of the set.
func value(t *testing.T, r source.Rendered, id string, path ...string) any {
	t.Helper()
	for _, o := range r.Set.Objects {
		if o.ID().String() == id {
			v, _, err := unstructured.NestedFieldCopy(o.Object, path...)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("there is no %s in %v", id, ids(r.Set))
	return nil
}

func ids(set manifest.Set) []string {
	var all []string
	for _, o := range set.Objects {
		all = append(all, o.ID().String())
	}
	return all
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}
