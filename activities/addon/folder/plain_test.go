package folder_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/addon/folder"
)

func configMap(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n"
}

// found is what was rendered, with where it is from.
func found(result folder.Result) []string {
	var all []string
	for _, o := range result.Objects {
		all = append(all, o.Source+": "+o.ID().String())
	}
	return all
}

func TestPlainFolderIsReadInTheOrderOfItsNames(t *testing.T) {
	dir := repository{
		"app/b.yml":              configMap("b"),
		"app/a.yaml":             configMap("a2") + "---\n" + configMap("a1"),
		"app/.hidden.yaml":       configMap("hidden"),
		"app/_part.yaml":         configMap("part"),
		"app/c.yaml":             "-> ../shared.yaml",
		"app/README.md":          "# read me",
		"app/values.json":        "{}",
		"app/below/x.yaml":       configMap("x"),
		"app/below/y.yaml":       configMap("y"),
		"app/below/deeper/z.yml": configMap("z"),
		"app/notes/a.txt":        "",
		"app/.github/ci.yaml":    "on: push",
		"shared.yaml":            configMap("shared"),
	}.onDisk(t)
	got, err := folder.Render(t.Context(), os.DirFS(dir), "./app/")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"app/.hidden.yaml: ConfigMap hidden", "app/_part.yaml: ConfigMap part", "app/a.yaml: ConfigMap a2", "app/a.yaml: ConfigMap a1",
		"app/b.yml: ConfigMap b", "app/c.yaml: ConfigMap shared",
	}
	if diff := cmp.Diff(want, found(got)); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"app/values.json", "app/below/deeper", "app/below"}, got.Ignored); diff != "" {
		t.Errorf("ignored (-want +got):\n%s", diff)
	}
	if got.Text != nil {
		t.Errorf("there is a text without kustomize:\n%s", got.Text)
	}
}

func TestRootOfTheRepositoryIsAFolder(t *testing.T) {
	files := fstest.MapFS{"a.yaml": {Data: []byte(configMap("a"))}}
	for _, dir := range []string{"", ".", "./"} {
		got, err := folder.Render(t.Context(), files, dir)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"a.yaml: ConfigMap a"}, found(got)); diff != "" {
			t.Errorf("objects of folder %q (-want +got):\n%s", dir, diff)
		}
	}
}

func TestRenderSaysWhatIsWrongWithAFolder(t *testing.T) {
	for name, tt := range map[string]struct {
		files repository
		dir   string
		want  string
	}{
		"missing":               {repository{}, "app", "render folder app: the repository has no such folder"},
		"a file":                {repository{"app": "x"}, "app", "render folder app: it is a file: name the folder that it is in"},
		"outside":               {repository{}, "../app", "it is outside of the repository"},
		"absolute":              {repository{}, "/app", "it is outside of the repository"},
		"empty":                 {repository{"app/README.md": ""}, "app", "render folder app: it has no objects"},
		"only comments":         {repository{"app/a.yaml": "# nothing\n"}, "app", "render folder app: it has no objects"},
		"files below":           {repository{"app/b/a.yaml": configMap("a")}, "app", "render folder app: it has no objects of its own: app/b would not be read"},
		"no object":             {repository{"app/a.yaml": "a: b\n"}, "app", "app/a.yaml: document 1 (line 1): it has no apiVersion"},
		"a link outside":        {repository{"app/a.yaml": "-> ../../a.yaml"}, "app", "app/a.yaml: it is outside of the repository"},
		"a link to the host":    {repository{"app/a.yaml": "-> /etc/passwd"}, "app", "the link app/a.yaml leads to /etc/passwd: it is outside of the repository"},
		"a linked folder":       {repository{"app": "-> ..", "a.yaml": ""}, "app", "it is outside of the repository"},
		"links in a circle":     {repository{"app": "-> ppa", "ppa": "-> app"}, "app", "it leads over more than 40 links"},
		"more than is read":     {repository{"app/a.yaml": strings.Repeat("# much\n", 3<<20)}, "app", "app/a.yaml is too much: a folder may read 16 MiB, split it"},
		"an empty one to build": {repository{"app/kustomization.yaml": "namePrefix: a-\n"}, "app", "render folder app: it has no objects"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := folder.Render(t.Context(), os.DirFS(tt.files.onDisk(t)), tt.dir)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is\n%v\nand lacks\n%s", err, tt.want)
			}
		})
	}
}

func TestEmptyFolderIsToldApart(t *testing.T) {
	_, err := folder.Render(t.Context(), fstest.MapFS{"app/a.txt": {}}, "app")
	if !errors.Is(err, folder.ErrEmpty) {
		t.Errorf("the error is %v", err)
	}
}

func TestRenderEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, files := range map[string]fstest.MapFS{
		"plain":     {"app/a.yaml": {Data: []byte(configMap("a"))}},
		"kustomize": {"app/a.yaml": {Data: []byte(configMap("a"))}, "app/kustomization.yaml": {Data: []byte("resources: [a.yaml]")}},
	} {
		if _, err := folder.Render(ctx, files, "app"); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}
