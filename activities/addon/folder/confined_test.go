package folder_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"example.com/fairlead/activities/addon/folder"
)

// outside counts what a build does outside of its repository.
type outside struct {
	url      string
	requests atomic.Int32
	marker   string // is a file once a program was run
}

// watchOutside has a server on loopback, and programs in PATH that tell that they were run.
func watchOutside(t testing.TB) *outside {
	t.Helper()
	o := &outside{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		o.requests.Add(1)
		if _, err := io.WriteString(w, configMap("fetched")); err != nil {
			t.Errorf("answer: %v", err)
		}
	}))
	t.Cleanup(server.Close)
	o.url = server.URL
	bin := t.TempDir()
	o.marker = filepath.Join(bin, "was-run")
	for _, program := range []string{"git", "helm", "helmV3", "docker", "sh"} {
		script := "#!/bin/bash\necho \"$0 $@\" >> " + o.marker + "\nexit 1\n"
		if err := os.WriteFile(filepath.Join(bin, program), []byte(script), 0o700); err != nil { // #nosec G306 -- a program
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	t.Setenv("TMPDIR", t.TempDir())
	return o
}

// untouched fails the test if something was asked or run, or left behind.
func (o *outside) untouched(t testing.TB) {
	t.Helper()
	if n := o.requests.Load(); n > 0 {
		t.Errorf("the build made %d requests", n)
	}
	if ran, err := os.ReadFile(o.marker); err == nil {
		t.Errorf("the build ran\n%s", ran)
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "kustomize-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("the build left %v (%v)", left, err)
	}
}

func TestKustomizationIsConfinedToTheRepository(t *testing.T) {
	o := watchOutside(t)
	const plugin = "apiVersion: builtin\nkind: %s\nmetadata: {name: p}\n%s"
	fetched := "is not in the repository: nothing is fetched for a build, put a copy into it"
	for name, tt := range map[string]struct {
		kustomization string
		more          repository
		want          string
	}{
		"a base outside":                {kustomization: "resources: [../../base]", want: "it is outside of the repository"},
		"a base outside and back":       {kustomization: "resources: [../../../repository/base]", want: "it is outside of the repository"},
		"a file of the host":            {kustomization: "resources: [/etc/passwd]", want: "/etc/passwd: it is outside of the repository"},
		"a file above its folder":       {kustomization: "resources: [../x.yaml]", more: repository{"x.yaml": configMap("x")}, want: "security; file 'x.yaml' is not in or below 'app'"},
		"a patch outside":               {kustomization: "resources: [x.yaml]\npatches: [{path: ../../x.yaml}]", want: "it is outside of the repository"},
		"a link outside":                {kustomization: "resources: [link.yaml]", more: repository{"app/link.yaml": "-> ../../x.yaml"}, want: "app/link.yaml: it is outside of the repository"},
		"a linked base outside":         {kustomization: "resources: [link]", more: repository{"app/link": "-> /etc"}, want: "the link app/link leads to /etc"},
		"a linked kustomization":        {kustomization: "-> ../../kustomization.yaml", want: "it is outside of the repository"},
		"a resource by http":            {kustomization: "resources: ['URL/x.yaml']", want: "app/kustomization.yaml: resources: URL/x.yaml " + fetched},
		"a resource by HTTP":            {kustomization: "resources: ['HTTP:URL']", want: fetched},
		"a field that knows no case":    {kustomization: "REſOURCES: ['URL/x.yaml']", want: fetched},
		"a base in git":                 {kustomization: "bases: ['https://127.0.0.1/a/b?ref=main']", want: fetched},
		"a base in git by ssh":          {kustomization: "resources: ['git@127.0.0.1:a/b']", want: fetched},
		"a base on GitHub":              {kustomization: "resources: [github.com/a/b]", want: fetched},
		"a folder that looks like it":   {kustomization: "resources: [github.com/a/b]", more: repository{"app/github.com/a/b/kustomization.yaml": "resources: []"}, want: fetched},
		"a repository of the host":      {kustomization: "resources: ['file:///tmp/x.git']", want: fetched},
		"a forced git":                  {kustomization: "resources: ['git::https://127.0.0.1/x']", want: fetched},
		"a URL with a line end":         {kustomization: "resources: [\"https://127.0.0.1/a/b\\n\"]", want: "is not in the repository"},
		"a component in git":            {kustomization: "components: ['https://127.0.0.1/a/b']", want: "components: https://127.0.0.1/a/b " + fetched},
		"a configuration by http":       {kustomization: "configurations: ['URL/x.yaml']", want: fetched},
		"a definition by http":          {kustomization: "crds: ['URL/x.yaml']", want: fetched},
		"a schema by http":              {kustomization: "openapi: {path: 'URL/x.json'}", want: fetched},
		"a patch by http":               {kustomization: "patches: [{path: 'URL/x.yaml'}]", want: fetched},
		"an old patch by http":          {kustomization: "patchesStrategicMerge: ['URL/x.yaml']", want: fetched},
		"a JSON patch by http":          {kustomization: "patchesJson6902: [{target: {kind: A, name: a}, path: 'URL/x.yaml'}]", want: fetched},
		"a replacement by http":         {kustomization: "replacements: [{path: 'URL/x.yaml'}]", want: fetched},
		"a file of a ConfigMap":         {kustomization: "configMapGenerator: [{name: a, files: ['URL/x']}]", want: fetched},
		"a file of a Secret, with key":  {kustomization: "secretGenerator: [{name: a, files: ['key=URL/x']}]", want: fetched},
		"an env of a Secret":            {kustomization: "secretGenerator: [{name: a, envs: ['URL/x']}]", want: fetched},
		"an old env of a ConfigMap":     {kustomization: "configMapGenerator: [{name: a, env: 'URL/x'}]", want: fetched},
		"behind an alias":               {kustomization: "x: &x ['URL/x.yaml']\nresources: *x", want: fetched},
		"in a second kustomization":     {kustomization: "resources: [below]", more: repository{"app/below/kustomization.yaml": "resources: ['URL/x.yaml']"}, want: "app/below/kustomization.yaml: resources: "},
		"in a linked kustomization":     {kustomization: "-> real.yaml", more: repository{"app/real.yaml": "resources: ['URL/x.yaml']"}, want: fetched},
		"a kustomization of two parts":  {kustomization: "resources: []\n---\nresources: ['URL/x.yaml']", want: "it has 2 documents, kustomize would read the first only"},
		"a key twice":                   {kustomization: "resources: []\nresources: ['URL/x.yaml']", want: `app/kustomization.yaml: document 1 (line 1): line 2: key "resources" is already set in line 1`},
		"a chart":                       {kustomization: "helmCharts: [{name: a, repo: 'URL'}]", want: "helmCharts: charts are not inflated: make the chart an add-on of its own"},
		"a chart, as it was":            {kustomization: "helmChartInflationGenerator: [{chartName: a}]", want: "helmChartInflationGenerator: charts are not inflated"},
		"a chart by a plugin":           {kustomization: "generators: [g.yaml]", more: repository{"app/g.yaml": fmt.Sprintf(plugin, "HelmChartInflationGenerator", "repo: URL\n")}, want: "generators: g.yaml: charts are not inflated"},
		"a plugin that is a program":    {kustomization: "generators: [g.yaml]", more: repository{"app/g.yaml": "apiVersion: x/v1\nkind: Program\nmetadata: {name: a}\n"}, want: "app/kustomization.yaml: generators: g.yaml: Program is a program or container, none is run for a build"},
		"a function in a container":     {kustomization: "transformers:\n- |-\n  apiVersion: x/v1\n  kind: F\n  metadata: {name: a, annotations: {config.kubernetes.io/function: 'container: {image: x}'}}", want: "F is a program or container"},
		"a function that is a program":  {kustomization: "validators: [v.yaml]", more: repository{"app/v.yaml": "apiVersion: x/v1\nkind: F\nmetadata: {name: a, annotations: {config.kubernetes.io/function: 'exec: {path: ./x}'}}"}, want: "F is a program or container"},
		"a plugin that fetches":         {kustomization: "generators: [g.yaml]", more: repository{"app/g.yaml": fmt.Sprintf(plugin, "ConfigMapGenerator", "files: ['k=URL/x']\n")}, want: fetched},
		"a plugin in a list that does":  {kustomization: "transformers: [g.yaml]", more: repository{"app/g.yaml": "apiVersion: v1\nkind: List\nitems: [{apiVersion: builtin, kind: PatchTransformer, metadata: {name: p}, path: 'URL/x'}]"}, want: fetched},
		"plugins that are built first":  {kustomization: "transformers: [t]", more: repository{"app/t/kustomization.yaml": ""}, want: "t is a folder, and what its kustomization makes cannot be looked at before it is run"},
		"a plugin that is missing":      {kustomization: "transformers: [t.yaml]", want: "transformers: "},
		"plugins in git":                {kustomization: "transformers: ['https://127.0.0.1/a/b']", want: fetched},
		"a plugin of the host":          {kustomization: "transformers: [/repository/app/x.yaml]", want: "it is outside of the repository"},
		"a broken file in place of git": {kustomization: "resources: ['https:/x.yaml']", more: repository{"app/https:/x.yaml": "{"}, want: fetched},
		"a base of itself":              {kustomization: "resources: [../app]", want: "cycle detected"},
		"bases in a circle":             {kustomization: "resources: [../b]", more: repository{"b/kustomization.yaml": "resources: [../app]"}, want: "cycle detected"},
		"bases without number":          {kustomization: "resources: [../l0]", more: doubling(12), want: "the build has more than 300 kustomizations"},
		"an alias bomb in a resource":   {kustomization: "resources: [bomb.yaml]", more: repository{"app/bomb.yaml": configMap("a") + bomb(9)}, want: "app/bomb.yaml: its aliases stand for more than 200000 values"},
		"one in a patch":                {kustomization: "resources: [x.yaml]\npatches:\n- patch: |\n    " + strings.ReplaceAll(configMap("x")+bomb(9), "\n", "\n    "), want: "its aliases stand for more than 200000 values"},
		"one in a plugin":               {kustomization: "generators: [g.yaml]", more: repository{"app/g.yaml": fmt.Sprintf(plugin, "ConfigMapGenerator", bomb(9))}, want: "its aliases stand for more than 200000 values"},
		"one behind broken YAML":        {kustomization: "resources: [bomb.yaml]", more: repository{"app/bomb.yaml": configMap("a") + "...\nb: [\n---\n" + configMap("a") + bomb(9)}, want: "its aliases stand for more than 200000 values"},
		"an alias of itself":            {kustomization: "resources: [bomb.yaml]", more: repository{"app/bomb.yaml": configMap("a") + "x: &x [*x]\n"}, want: "app/bomb.yaml: "},
		"what makes kustomize panic":    {kustomization: "resources: [x.yaml]\ncrds: [empty.json]", more: repository{"app/empty.json": ""}, want: "kustomize: it panicked"},
		"a field that nobody knows":     {kustomization: "resourcess: [x.yaml]", want: `kustomize: invalid Kustomization: json: unknown field "resourcess"`},
		"a resource that is missing":    {kustomization: "resources: [missing.yaml]", want: "app/missing.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			files := base.with(tt.more)
			files["app/x.yaml"] = configMap("x")
			files["app/kustomization.yaml"] = tt.kustomization
			for name, content := range files {
				files[name] = strings.ReplaceAll(strings.ReplaceAll(content, "HTTP:URL", strings.ToUpper(o.url)), "URL", o.url)
			}
			_, err := folder.Render(t.Context(), os.DirFS(files.onDisk(t)), "app")
			want := strings.ReplaceAll(tt.want, "URL", o.url)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the error is\n%v\nand lacks\n%s", err, want)
			}
		})
	}
	o.untouched(t)
}

// doubling is n levels of two overlays on the level below, and one object under them.
func doubling(n int) repository {
	levels := repository{fmt.Sprintf("l%d/kustomization.yaml", n): "resources: [x.yaml]", fmt.Sprintf("l%d/x.yaml", n): configMap("x")}
	for i := range n {
		levels[fmt.Sprintf("l%d/kustomization.yaml", i)] = "resources: [a, b]"
		for _, half := range []string{"a", "b"} {
			levels[fmt.Sprintf("l%d/%s/kustomization.yaml", i, half)] = fmt.Sprintf("namePrefix: %s-\nresources: [../../l%d]", half, i+1)
		}
	}
	return levels
}

// bomb is a field with ten to the power of n values.
func bomb(n int) string {
	text := "x0: &x0 1\n"
	for i := range n {
		text += fmt.Sprintf("x%d: &x%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*x%d,", i), 10), ","))
	}
	return text
}

// FuzzKustomization holds that no kustomization reaches outside of its repository, or
// makes a build panic.
func FuzzKustomization(f *testing.F) {
	o := watchOutside(f)
	for _, seed := range []string{
		"resources: [x.yaml, ../base]", "resources: ['%s/x.yaml']", "generators: ['%s/x.yaml']", "components: [../base]", "configMapGenerator: [{name: a, files: ['k=%s/x']}]",
		"transformers:\n- |-\n  apiVersion: builtin\n  kind: PatchTransformer\n  metadata: {name: a}\n  path: %s/x\n", "openapi: {path: '%s/x'}", "patches: [{path: '%s/x'}]",
		"helmCharts: [{name: a, repo: '%s'}]", "crds: [x.yaml]\nconfigurations: [x.yaml]", "resources: [\"git@127.0.0.1:a/b\"]", "x: &x [*x]", "replacements: [{path: x.yaml}]",
	} {
		f.Add(strings.ReplaceAll(seed, "%s", o.url), configMap("x"))
	}
	f.Fuzz(func(t *testing.T, kustomization, file string) {
		files := fstest.MapFS{}
		for name, content := range base {
			files[name] = &fstest.MapFile{Data: []byte(content)}
		}
		files["app/kustomization.yaml"] = &fstest.MapFile{Data: []byte(kustomization)}
		files["app/x.yaml"] = &fstest.MapFile{Data: []byte(file)}
		result, err := folder.Render(t.Context(), files, "app")
		if err == nil && len(result.Objects) == 0 {
			t.Error("it renders to nothing, and that is no error")
		}
		o.untouched(t)
	})
}
