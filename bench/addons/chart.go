package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// The versions of each chart: the second one drops a ConfigMap.
const (
	firstVersion  = "1.0.0"
	secondVersion = "1.1.0"
)

// repository serves one chart for each life: /NAME/index.yaml and its archives. The
// definition of a kind that a chart brings is of the whole cluster, and of one add-on.
type repository struct{}

func (repository) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	life, file, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/")
	var data []byte
	var err error
	switch file {
	case "index.yaml":
		data, err = index(life)
	case archiveName(life, firstVersion):
		data, err = archive(life, firstVersion)
	case archiveName(life, secondVersion):
		data, err = archive(life, secondVersion)
	default:
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	http.ServeContent(w, r, file, time.Time{}, bytes.NewReader(data))
}

func archiveName(life, version string) string { return life + "-" + version + ".tgz" }

func index(life string) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "apiVersion: v1\nentries:\n  %s:\n", life)
	for _, version := range []string{firstVersion, secondVersion} {
		data, err := archive(life, version)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(data)
		fmt.Fprintf(&b, "  - {apiVersion: v2, name: %s, version: %s, digest: %s, urls: [%s]}\n",
			life, version, hex.EncodeToString(sum[:]), archiveName(life, version))
	}
	return b.Bytes(), nil
}

// archive packs a chart to the same bytes each time.
func archive(life, version string) ([]byte, error) {
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	out := tar.NewWriter(zipped)
	files := chart(life, version)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data := []byte(files[name])
		if err := out.WriteHeader(&tar.Header{Name: life + "/" + name, Mode: 0o644, Size: int64(len(data))}); err != nil {
			return nil, fmt.Errorf("pack chart %s: %w", life, err)
		}
		if _, err := out.Write(data); err != nil {
			return nil, fmt.Errorf("pack chart %s: %w", life, err)
		}
	}
	if err := out.Close(); err != nil {
		return nil, fmt.Errorf("pack chart %s: %w", life, err)
	}
	if err := zipped.Close(); err != nil {
		return nil, fmt.Errorf("pack chart %s: %w", life, err)
	}
	return packed.Bytes(), nil
}

// group of the kind that the chart of a life defines.
func group(life string) string { return life + ".chaos.example.com" }

// chart has the files of a chart.
func chart(life, version string) map[string]string {
	files := map[string]string{
		"Chart.yaml":             fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\n", life, version),
		"crds/widgets.yaml":      fmt.Sprintf(definition, group(life)),
		"templates/objects.yaml": fmt.Sprintf(objects, version, group(life)),
	}
	if version == firstVersion {
		files["templates/old.yaml"] = old
	}
	for _, h := range hookJobs {
		files["templates/"+h.name+".yaml"] = fmt.Sprintf(hookJob, h.name, h.event, h.policies)
	}
	files["templates/setup.yaml"] = setup
	return files
}

// hookOf is the Job of a hook.
type hookOf struct {
	name, event, policies string
	// stays says whether its Job is left when it has succeeded.
	stays bool
	// fails says whether its first Job fails.
	fails bool
}

var hookJobs = []hookOf{
	{"prepare", "pre-install", "before-hook-creation", true, false},
	{"announce", "post-install", "hook-succeeded", false, false},
	{"migrate", "pre-upgrade", "before-hook-creation,hook-succeeded", false, false},
	{"verify", "post-upgrade", "before-hook-creation,hook-failed", true, false},
	{"backup", "pre-delete", "hook-succeeded,hook-failed", false, true},
	{"bill", "post-delete", "before-hook-creation", true, false},
}

const (
	definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
`
	objects = `apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {color: blue, version: %[1]q}
---
apiVersion: v1
kind: Secret
metadata: {name: login}
stringData: {password: {{ .Values.password | quote }}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: web}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: example/none:%[1]s}]}
---
apiVersion: %[2]s/v1
kind: Widget
metadata: {name: main}
spec: {size: 1}
`
	old = `apiVersion: v1
kind: ConfigMap
metadata: {name: old}
data: {color: grey}
`
	setup = `apiVersion: v1
kind: ServiceAccount
metadata:
  name: setup
  annotations: {helm.sh/hook: pre-install, helm.sh/hook-weight: "-5", helm.sh/hook-delete-policy: "before-hook-creation,hook-succeeded"}
`
	hookJob = `apiVersion: batch/v1
kind: Job
metadata:
  name: %[1]s
  annotations: {helm.sh/hook: %[2]s, helm.sh/hook-delete-policy: %[3]q}
spec:
  template:
    spec:
      restartPolicy: Never
      serviceAccountName: setup
      containers: [{name: main, image: example/none}]
`
)
