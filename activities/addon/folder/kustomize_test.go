package folder_test

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/addon/folder"
	"example.com/fairlead/deploy/local/localtest"
)

// repository is files by their names. A content that starts with -> is a link.
type repository map[string]string

// with is r and more files.
func (r repository) with(more repository) repository {
	all := maps.Clone(r)
	maps.Copy(all, more)
	return all
}

// onDisk writes the repository to a directory.
func (r repository) onDisk(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range r {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, isLink := bytes.CutPrefix([]byte(content), []byte("-> ")); isLink {
			err = os.Symlink(string(target), file)
		} else {
			err = os.WriteFile(file, []byte(content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// base is a folder named base that others build on.
var base = repository{
	"base/kustomization.yaml": "resources: [web.yaml, zone.yaml, crd.yaml]\nconfigMapGenerator:\n- name: settings\n  literals: [a=b]\n",
	"base/web.yaml": `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  annotations: {on: "yes", port: "080"}
spec:
  replicas: 1
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      # the only one
      - name: web
        image: nginx:1
        envFrom: [{configMapRef: {name: settings}}]
        command: [sh, -c, "echo 1e3 \u00e9"]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80}]}
`,
	"base/zone.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: zone}\n",
	"base/crd.yaml": `apiVersion: example.com/v1
kind: Widget
metadata: {name: w}
spec: {big: 9007199254740993, float: 1.50, list: [{name: a}, {name: b}], text: "a\n---\nb\n"}
`,
}

func TestKustomizationIsBuiltAsTheCommandBuildsIt(t *testing.T) {
	for name, files := range map[string]repository{
		"a base": {
			"app/kustomization.yaml": "resources: [../base]\n",
		},
		"an overlay of all common fields": {
			"app/kustomization.yml": `namespace: shop
namePrefix: a-
nameSuffix: -z
commonAnnotations: {path: "https://example.com/x"}
labels: [{pairs: {team: x}, includeSelectors: true}]
images: [{name: nginx, newName: ghcr.io/nginx, newTag: "2"}]
replicas: [{name: web, count: 3}]
resources: [../base, own.yaml]
patches:
- path: patch.yaml
- target: {kind: Service}
  patch: |-
    - op: replace
      path: /spec/ports/0/port
      value: 8080
secretGenerator:
- name: secret
  files: [key=secret.txt]
  envs: [secret.env]
replacements:
- source: {kind: Namespace, name: zone}
  targets: [{select: {kind: Deployment}, fieldPaths: ["spec.template.metadata.labels.app"]}]
`,
			"app/own.yaml":   "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: own}, data: {a: &a x, b: *a}}\n",
			"app/patch.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: side, image: x}]}}}\n",
			"app/secret.txt": "- & and *\n",
			"app/secret.env": "user=me\n",
		},
		"components, and plugins that are built in": {
			"app/Kustomization": `resources: [../base]
components: [../part]
transformers:
- prefix.yaml
- |-
  apiVersion: builtin
  kind: NamespaceTransformer
  metadata: {name: n, namespace: inline}
generators: [generator.yaml]
`,
			"app/prefix.yaml":         "apiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: p}\nprefix: pre-\nfieldSpecs: [{path: metadata/name}]\n",
			"app/generator.yaml":      "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: generated}\nfiles: [data.json]\n",
			"app/data.json":           `{"a": 1}`,
			"part/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnameSuffix: -part\n",
		},
		"an order of its own, and origins": {
			"app/kustomization.yaml": "sortOptions: {order: fifo}\nbuildMetadata: [originAnnotations]\nresources: [../base]\n",
		},
		"two overlays of one base": {
			"app/kustomization.yaml":   "resources: [a, b]\n",
			"app/a/kustomization.yaml": "namePrefix: a-\nresources: [../../one]\n",
			"app/b/kustomization.yaml": "namePrefix: b-\nresources: [../../one]\n",
			"one/kustomization.yaml":   "resources: [a.yaml]\n",
			"one/a.yaml":               configMap("a"),
		},
		"links inside": {
			"app/kustomization.yaml": "-> real.yaml",
			"app/real.yaml":          "resources: [linked, file.yaml]\n",
			"app/linked":             "-> ../base",
			"app/file.yaml":          "-> other/../other/./f.yaml",
			"app/other/f.yaml":       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: f}\n",
		},
		"a schema of its own": schemaOfItsOwn,
		"deprecated fields": {
			"app/kustomization.yaml": "bases: [../base]\ncommonLabels: {a: b}\npatchesStrategicMerge:\n- |-\n  apiVersion: v1\n  kind: Service\n  metadata: {name: web}\n  spec: {type: NodePort}\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := base.with(files).onDisk(t)
			got, err := folder.Render(t.Context(), os.DirFS(dir), "app")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(kubectl(t, filepath.Join(dir, "app")), string(got.Text)); diff != "" {
				t.Errorf("text (-kubectl kustomize +ours):\n%s", diff)
			}
			if len(got.Objects) == 0 {
				t.Error("there are no objects")
			}
		})
	}
}

// schemaOfItsOwn merges lists of Widgets by name.
var schemaOfItsOwn = repository{
	"app/kustomization.yaml": "openapi: {path: schema.json}\nresources: [../base]\npatches: [{path: patch.yaml}]\n",
	"app/patch.yaml":         "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {list: [{name: b, more: x}]}\n",
	"app/schema.json": `{"definitions": {"w": {"type": "object",
  "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Widget"}],
  "properties": {"spec": {"type": "object", "properties": {"list": {"type": "array", "items": {"type": "object"},
    "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name"}}}}}}}`,
}

// kubectl is what `kubectl kustomize` prints.
func kubectl(t *testing.T, dir string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(localtest.Dir(t), "kubectl"), "kustomize", dir) // #nosec G204 -- the kubectl of the tests
	cmd.Env = []string{"HOME=" + t.TempDir()}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("kubectl kustomize: %v\n%s", err, &errs)
	}
	return string(out)
}

func TestSchemaOfOneBuildIsNotOfTheNext(t *testing.T) {
	without := base.with(schemaOfItsOwn)
	without["app/kustomization.yaml"] = "resources: [../base]\npatches: [{path: patch.yaml}]\n"
	render := func(files repository) string {
		got, err := folder.Render(t.Context(), os.DirFS(files.onDisk(t)), "app")
		if err != nil {
			t.Fatal(err)
		}
		return string(got.Text)
	}
	before := render(without)
	if with := render(base.with(schemaOfItsOwn)); with == before {
		t.Fatal("the schema changes nothing")
	}
	if diff := cmp.Diff(before, render(without)); diff != "" {
		t.Errorf("text (-before the build with a schema +after):\n%s", diff)
	}
}
