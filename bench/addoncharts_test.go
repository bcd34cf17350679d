package bench

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// benchedVersion is that of each chart.
const benchedVersion = "1.0.0"

// smallChart has what a small piece of software has: four objects.
var smallChart = map[string]string{
	"values.yaml": "replicas: 1\nimage: \"registry.example.com/web:1.0\"\nsettings: {color: blue, size: \"10\"}\n",
	"templates/config.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}", labels: {app: "{{ .Release.Name }}"}}
data:
  {{- toYaml .Values.settings | nindent 2 }}
`,
	"templates/account.yaml": `apiVersion: v1
kind: ServiceAccount
metadata: {name: "{{ .Release.Name }}", labels: {app: "{{ .Release.Name }}"}}
`,
	"templates/service.yaml": `apiVersion: v1
kind: Service
metadata: {name: "{{ .Release.Name }}", labels: {app: "{{ .Release.Name }}"}}
spec:
  clusterIP: None # the API server has 254 of them
  selector: {app: "{{ .Release.Name }}"}
  ports: [{name: http, port: 80, targetPort: http}]
`,
	"templates/deployment.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: "{{ .Release.Name }}", labels: {app: "{{ .Release.Name }}"}}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: "{{ .Release.Name }}"}}
  template:
    metadata: {labels: {app: "{{ .Release.Name }}"}}
    spec:
      serviceAccountName: "{{ .Release.Name }}"
      containers:
      - name: web
        image: {{ .Values.image }}
        ports: [{name: http, containerPort: 8080}]
        envFrom: [{configMapRef: {name: "{{ .Release.Name }}"}}]
`,
}

// largeChart has templates that each make so many ConfigMaps of about 1 KB.
func largeChart(templates, objects int) map[string]string {
	files := map[string]string{"values.yaml": fmt.Sprintf("text: %q\n", strings.Repeat("0123456789abcdef", 60))}
	for i := range templates {
		files[fmt.Sprintf("templates/part-%02d.yaml", i)] = fmt.Sprintf(`{{- range $i := until %d }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ $.Release.Name }}-%02d-{{ $i }}"}
data: {text: "{{ $.Values.text }}"}
{{- end }}
`, objects, i)
	}
	return files
}

// chartRepository serves charts at a classic repository, as Helm packs them.
func chartRepository(tb testing.TB, charts map[string]map[string]string) *httptest.Server {
	tb.Helper()
	files := map[string][]byte{}
	entries := map[string]any{}
	for name, chart := range charts {
		data, err := pack(name, chart)
		if err != nil {
			tb.Fatalf("pack chart %s: %v", name, err)
		}
		file := name + "-" + benchedVersion + ".tgz"
		sum := sha256.Sum256(data)
		files["/"+file] = data
		entries[name] = []any{map[string]any{
			"apiVersion": "v2", "name": name, "version": benchedVersion, "digest": hex.EncodeToString(sum[:]), "urls": []string{file},
		}}
	}
	index, err := yaml.Marshal(map[string]any{"apiVersion": "v1", "entries": entries})
	if err != nil {
		tb.Fatalf("write the index of the charts: %v", err)
	}
	files["/index.yaml"] = index
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(data) // a client that is gone tells itself
	}))
	tb.Cleanup(s.Close)
	return s
}

func pack(name string, chart map[string]string) ([]byte, error) {
	files := map[string]string{"Chart.yaml": fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\n", name, benchedVersion)}
	for path, text := range chart {
		files[path] = text
	}
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	archive := tar.NewWriter(zip)
	for path, text := range files {
		if err := archive.WriteHeader(&tar.Header{Name: name + "/" + path, Mode: 0o644, Size: int64(len(text))}); err != nil {
			return nil, err
		}
		if _, err := archive.Write([]byte(text)); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
