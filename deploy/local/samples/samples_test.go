package samples_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"example.com/fairlead/activities/addon/charts"
	"example.com/fairlead/activities/addon/folder"
	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/render"
	"example.com/fairlead/activities/git"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/deploy"
	"example.com/fairlead/deploy/local/samples"
)

// written are samples with a web server that has their charts.
func written(t *testing.T) samples.Samples {
	t.Helper()
	s := samples.Samples{Dir: t.TempDir(), Files: deploy.Examples}
	mux := http.NewServeMux()
	mux.Handle(samples.ChartsPath, http.StripPrefix(samples.ChartsPath, http.FileServer(http.Dir(s.ChartsDir()))))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.URL = server.URL
	if err := s.Write(); err != nil {
		t.Fatal(err)
	}
	return s
}

// addon is one of the written Addon objects, without a field that there is not.
func addon(t *testing.T, s samples.Samples, file string) addons.Addon {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.Dir, file))
	if err != nil {
		t.Fatal(err)
	}
	var a addons.Addon
	if err := yaml.UnmarshalStrict(text, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

func ids(set manifest.Set) []string {
	var out []string
	for _, o := range set.Objects {
		out = append(out, o.ID().String())
	}
	for _, h := range set.Hooks {
		out = append(out, "hook "+h.ID().String())
	}
	return out
}

// chartOf fetches the chart of an add-on.
func chartOf(t *testing.T, a addons.Addon) (*render.Source, charts.Resolved) {
	t.Helper()
	f := &charts.Fetcher{Dir: t.TempDir()}
	helm := a.Spec.Source.Helm
	found, err := f.Resolve(t.Context(), charts.Source{Repo: helm.Repo, Chart: helm.Chart, Version: helm.Version}, nil)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := f.Fetch(t.Context(), found, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = archive.Close() }()
	data, err := io.ReadAll(archive.Reader())
	if err != nil {
		t.Fatal(err)
	}
	source, err := render.Archive(data)
	if err != nil {
		t.Fatal(err)
	}
	return source, found
}

func TestTheChartExampleIsFetchedAndRendered(t *testing.T) {
	a := addon(t, written(t), "addon-chart.yaml")
	source, _ := chartOf(t, a)
	for values, want := range map[string][]string{
		a.Spec.Values: {"ServiceAccount hello", "ConfigMap hello", "Service hello"},
		a.Spec.Values + "\nhook: {enabled: true}": {"ServiceAccount hello", "ConfigMap hello", "Service hello", "hook Job.batch hello-before"},
	} {
		parsed, err := render.Values([]byte(values))
		if err != nil {
			t.Fatal(err)
		}
		req := render.Request{Release: a.Name, Namespace: a.Spec.Namespace, Values: parsed}
		if req.Capabilities, err = render.Offline("", nil); err != nil {
			t.Fatal(err)
		}
		result, err := render.Chart(t.Context(), source, req)
		if err != nil {
			t.Fatal(err)
		}
		set, err := result.Set()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, ids(set)); diff != "" {
			t.Errorf("with values %q (-want +got):\n%s", values, diff)
		}
		if text := result.Text(false); !strings.Contains(text, "greeting: \"Good morning from hello\"") {
			t.Errorf("the greeting is not in\n%s", text)
		}
	}
}

func TestTheChartIsTheSameEachTime(t *testing.T) {
	s := written(t)
	_, before := chartOf(t, addon(t, s, "addon-chart.yaml"))
	if err := s.Write(); err != nil {
		t.Fatal(err)
	}
	if _, after := chartOf(t, addon(t, s, "addon-chart.yaml")); after.Digest != before.Digest || before.Digest == "" {
		t.Errorf("digest %s, after %s", after.Digest, before.Digest)
	}
}

// rendered is what the folder example makes, and of which commit.
func rendered(t *testing.T, s samples.Samples) (commit string, objects []string) {
	t.Helper()
	from := addon(t, s, "addon-folder.yaml").Spec.Source.Git
	r := &git.Reader{Dir: t.TempDir()}
	commit, err := r.Resolve(t.Context(), from.Repo, from.Revision, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := r.Files(t.Context(), from.Repo, commit, nil)
	if err != nil {
		t.Fatal(err)
	}
	result, err := folder.Render(t.Context(), files, from.Path)
	if err != nil {
		t.Fatal(err)
	}
	return commit, ids(manifest.Set{Objects: result.Objects})
}

func TestTheFolderExampleIsReadFromItsRepository(t *testing.T) {
	_, objects := rendered(t, written(t))
	if len(objects) != 2 || !slices.Contains(objects, "LimitRange defaults") || !strings.Contains(strings.Join(objects, " "), "ConfigMap rules-") {
		t.Errorf("it makes %v, want a LimitRange and a ConfigMap", objects)
	}
}

func TestACommitToTheRepositoryStays(t *testing.T) {
	s := written(t)
	before, objects := rendered(t, s)
	repository := filepath.Join(s.Dir, "repository")
	if err := os.WriteFile(filepath.Join(repository, "team", "rules.txt"), []byte("other rules\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	opened, err := gogit.PlainOpen(repository)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := opened.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	someone := &object.Signature{Name: "Someone", Email: "someone@localhost", When: time.Unix(1, 0)}
	if _, err := tree.Commit("other rules", &gogit.CommitOptions{All: true, Author: someone}); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(); err != nil {
		t.Fatal(err)
	}
	after, others := rendered(t, s)
	if after == before || cmp.Equal(objects, others) {
		t.Errorf("commit %s makes %v, after %s, which made %v", after, others, before, objects)
	}
}
