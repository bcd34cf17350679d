package main

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/deploy/local/localtest"
)

var hooksChart = filepath.Join(renderData, "charts", "hooks")

// write makes files by their paths below dir.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// renderAddon is what `fairlead addon render` prints, with what it needs of its surroundings.
func renderAddon(t *testing.T, env []string, args ...string) (out, errs string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, append([]string{"addon", "render"}, args...)...) // #nosec G204 -- the program under test
	var o, e strings.Builder
	cmd.Stdout, cmd.Stderr = &o, &e
	cmd.Env = append(os.Environ(), append([]string{"XDG_CACHE_HOME=" + filepath.Join(t.TempDir(), "none")}, env...)...)
	err = cmd.Run()
	return o.String(), e.String(), err
}

// chartRepository serves a classic repository that has a chart, and counts downloads of it.
func chartRepository(t *testing.T, chart string) (url string, downloads func() int) {
	t.Helper()
	dir := t.TempDir()
	stdout(t, filepath.Join(localtest.Dir(t), "helm"), "package", chart, "--version", "1.2.3", "--destination", dir)
	packed, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(packed) != 1 {
		t.Fatalf("the packed chart is %q (%v)", packed, err)
	}
	data, err := os.ReadFile(packed[0])
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(packed[0])
	write(t, dir, map[string]string{"index.yaml": fmt.Sprintf("apiVersion: v1\nentries:\n  %s:\n  - version: 1.2.3\n    digest: %x\n    urls: [%s]\n", filepath.Base(chart), sha256.Sum256(data), name)})
	asked := make(chan struct{}, 100)
	files := http.FileServer(http.Dir(dir))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, name) {
			asked <- struct{}{}
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() int { return len(asked) }
}

func TestADefinedChartIsPrintedAsTheChartItself(t *testing.T) {
	url, downloads := chartRepository(t, hooksChart)
	dir := t.TempDir()
	values, err := os.ReadFile(filepath.Join(renderData, "values", "plain.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "addons", "shop.yaml")
	write(t, dir, map[string]string{"addons/shop.yaml": "name: store\nreleaseName: shop\nnamespace: trade\nhelm: {repo: '" + url + "', chart: hooks, version: ^1.2, credentialsSecretRef: {name: key}}\n" +
		"valuesFrom: [{secretRef: {name: site}}, {configMapRef: {name: more}}]\nvalues:\n  " + strings.ReplaceAll(strings.TrimSpace(string(values)), "\n", "\n  ") + "\n"})
	more := []string{"--kube-version", "1.30", "--api-versions", "a/v1,b/v1", "--with-hooks"}
	unpacked := filepath.Join(t.TempDir(), "hooks")
	if err := os.CopyFS(unpacked, os.DirFS(hooksChart)); err != nil {
		t.Fatal(err)
	}
	packedVersion(t, unpacked, "1.2.3")
	want := stdout(t, program, append([]string{"addon", "render", "--chart", unpacked, "--release", "shop", "-n", "trade", "--values", filepath.Join(renderData, "values", "plain.yaml")}, more...)...)
	for _, round := range []string{"first", "second"} {
		got, errs, err := renderAddon(t, nil, append([]string{"-f", file, "--cache-dir", filepath.Join(dir, "cache")}, more...)...)
		if err != nil {
			t.Fatalf("%s: %v\n%s", round, err, errs)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-chart +definition):\n%s", round, diff)
		}
		warnings := "warning: valuesFrom: Secret site is left out: there is no cluster to read it from\n" +
			"warning: valuesFrom: ConfigMap more is left out: there is no cluster to read it from\n" +
			"warning: helm.credentialsSecretRef: Secret key is left out: there is no cluster to read it from; trying without credentials\n"
		if diff := cmp.Diff(warnings, warningsIn(errs)); diff != "" {
			t.Errorf("%s: other warnings (- wanted, + got):\n%s", round, diff)
		}
	}
	if n := downloads(); n != 1 {
		t.Errorf("the chart was fetched %d times, want once", n)
	}
}

// warningsIn leaves out what Helm itself tells of the chart.
func warningsIn(errs string) string {
	var b strings.Builder
	for line := range strings.Lines(errs) {
		if strings.HasPrefix(line, "warning: ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// packedVersion makes a folder say the version that its package was given.
func packedVersion(t *testing.T, dir, version string) {
	t.Helper()
	path := filepath.Join(dir, "Chart.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "version:") {
			lines[i] = "version: " + version
		}
	}
	write(t, dir, map[string]string{"Chart.yaml": strings.Join(lines, "\n")})
}

func TestNumbersOfADefinitionStayWhole(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"count/Chart.yaml":           "apiVersion: v2\nname: count\nversion: 0.0.0\n",
		"count/templates/count.yaml": "small: {{ .Values.small }}\nlarge: {{ .Values.large }}\n",
	})
	url, _ := chartRepository(t, filepath.Join(dir, "count"))
	write(t, dir, map[string]string{"count.yaml": "name: count\nnamespace: trade\nhelm: {repo: '" + url + "', chart: count, version: 1.2.3}\nvalues: {small: 3, large: 9007199254740993}\n"})
	got, errs, err := renderAddon(t, nil, "-f", filepath.Join(dir, "count.yaml"), "--cache-dir", filepath.Join(dir, "cache"))
	if want := "---\n# Source: count/templates/count.yaml\nsmall: 3\nlarge: 9007199254740993\n"; got != want {
		t.Errorf("got %q, %v, %s, want %q", got, err, errs, want)
	}
}

func TestChartsAreKeptInTheCacheDirectoryOfTheUser(t *testing.T) {
	url, _ := chartRepository(t, hooksChart)
	home := t.TempDir()
	write(t, home, map[string]string{"shop.yaml": "name: shop\nnamespace: trade\nhelm: {repo: '" + url + "', chart: hooks, version: 1.2.3}\n"})
	if _, errs, err := renderAddon(t, []string{"XDG_CACHE_HOME=" + home}, "-f", filepath.Join(home, "shop.yaml")); err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	if kept, err := filepath.Glob(filepath.Join(home, "fairlead", "charts", "*")); err != nil || len(kept) == 0 {
		t.Errorf("it has %q (%v)", kept, err)
	}
}

func TestAddonRenderOfADefinitionNamesTheRemedy(t *testing.T) {
	dir := t.TempDir()
	url, _ := chartRepository(t, hooksChart)
	chart := "name: web\nnamespace: trade\nhelm: {repo: '" + url + "', chart: hooks, version: 1.2.3}\n"
	write(t, dir, map[string]string{
		"chart.yaml":   chart,
		"typo.yaml":    chart + "autoSync: true\n",
		"version.yaml": strings.Replace(chart, "1.2.3", "9.9.9", 1),
		"own.yaml":     "name: web\nnamespace: trade\ngit: {path: web}\n",
		"github.yaml":  "name: web\nnamespace: trade\ngit: {path: web, repo: owner/name}\n",
		"missing.yaml": "name: web\nnamespace: trade\ngit: {path: web, repo: " + dir + "/missing}\n",
	})
	repo := gitRepository(t)
	write(t, repo, map[string]string{"addons/gone.yaml": "name: web\nnamespace: trade\ngit: {path: gone}\n"})
	file := func(name string) []string {
		return []string{"-f", filepath.Join(dir, name), "--cache-dir", filepath.Join(dir, "cache")}
	}
	for name, test := range map[string]struct {
		args []string
		says []string
	}{
		"nothing":                           {args: nil, says: []string{"give -f", "or give --chart"}},
		"a file that is not":                {args: file("nowhere.yaml"), says: []string{"-f: ", "nowhere.yaml"}},
		"an unknown field":                  {args: file("typo.yaml"), says: []string{`typo.yaml:4: unknown field "autoSync"`}},
		"a definition and a chart":          {args: append(file("chart.yaml"), "--chart", "."), says: []string{"--chart does not go with -f", "chart.yaml"}},
		"a definition and a release":        {args: append(file("chart.yaml"), "--release", "web"), says: []string{"--release does not go with -f"}},
		"a definition and values":           {args: append(file("chart.yaml"), "--values", "a"), says: []string{"--values does not go with -f"}},
		"a definition and a namespace":      {args: append(file("chart.yaml"), "-n", "a"), says: []string{"--namespace does not go with -f"}},
		"a chart and a repository":          {args: []string{"--chart", ".", "--release", "web", "--repo", "."}, says: []string{"--repo goes with -f only"}},
		"a version that there is not":       {args: file("version.yaml"), says: []string{"version.yaml: ", "9.9.9"}},
		"a Kubernetes version that is none": {args: append(file("chart.yaml"), "--kube-version", "newest"), says: []string{"chart.yaml: --kube-version"}},
		"a definition in no repository":     {args: file("own.yaml"), says: []string{"own.yaml: ", "give --repo"}},
		"a repository by its name":          {args: file("github.yaml"), says: []string{"github.yaml: git.repo owner/name is not fetched here: give --repo"}},
		"a path that is no repository":      {args: file("missing.yaml"), says: []string{"missing.yaml: git.repo cannot be read", "give --repo"}},
		"a directory that is no repository": {args: append(file("github.yaml"), "--repo", dir), says: []string{"--repo must be the top of a working copy, or a bare repository"}},
		"a folder that the copy has not":    {args: []string{"-f", filepath.Join(repo, "addons", "gone.yaml")}, says: []string{"gone.yaml: ", "the repository has no such folder"}},
		"a folder that the other has not":   {args: append(file("own.yaml"), "--repo", filepath.Join(repo, "web")), says: []string{"--repo must be the top of a working copy"}},
	} {
		t.Run(name, func(t *testing.T) {
			out, errs, err := renderAddon(t, nil, test.args...)
			if err == nil || out != "" {
				t.Fatalf("got %v and %q, want an error alone", err, out)
			}
			for _, says := range test.says {
				if !strings.Contains(errs, says) {
					t.Errorf("it says %q, want %q in it", errs, says)
				}
			}
		})
	}
}
