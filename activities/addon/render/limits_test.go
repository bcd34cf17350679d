package render_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.com/fairlead/activities/addon/render"
)

const chartYAML = "apiVersion: v2\nname: big\nversion: 1.0.0\n"

func TestArchivesAreBounded(t *testing.T) {
	chart := entry{"big/Chart.yaml", []byte(chartYAML)}
	zeros := make([]byte, 4<<20)
	cases := map[string]func() []byte{
		"content": func() []byte {
			entries := []entry{chart}
			for i := range 26 {
				entries = append(entries, entry{fmt.Sprintf("big/files/%d", i), zeros})
			}
			return pack(t, entries...)
		},
		"number of files": func() []byte {
			entries := []entry{chart}
			for i := range 20_001 {
				entries = append(entries, entry{fmt.Sprintf("big/files/%d", i), nil})
			}
			return pack(t, entries...)
		},
		"content of subcharts": func() []byte {
			entries := []entry{chart}
			for i := range 3 {
				var files []entry
				for j := range 10 {
					files = append(files, entry{fmt.Sprintf("sub/files/%d", j), zeros})
				}
				entries = append(entries, entry{fmt.Sprintf("big/charts/sub%d.tgz", i), pack(t, files...)})
			}
			return pack(t, entries...)
		},
		"depth": func() []byte {
			data := pack(t, chart)
			for range 10 {
				data = pack(t, chart, entry{"big/charts/big.tgz", data})
			}
			return data
		},
		"the archive": func() []byte { return make([]byte, 64<<20+1) },
	}
	for name, archive := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := render.Archive(archive()); !errors.Is(err, render.ErrTooLarge) {
				t.Errorf("got error %v, want %v", err, render.ErrTooLarge)
			}
		})
	}
}

func TestArchivesThatAreNone(t *testing.T) {
	whole := pack(t, entriesOf(t, "plain")...)
	for name, data := range map[string][]byte{
		"empty":             nil,
		"text":              []byte(chartYAML),
		"cut":               whole[:len(whole)/2],
		"path to above":     pack(t, entry{"big/../../etc/passwd", nil}),
		"no chart":          pack(t, entry{"big/values.yaml", nil}),
		"file that is huge": pack(t, entry{"big/Chart.yaml", []byte(chartYAML)}, entry{"big/x", make([]byte, 6<<20)}),
	} {
		t.Run(name, func(t *testing.T) {
			source, err := render.Archive(data)
			if err == nil {
				_, err = render.Chart(t.Context(), source, render.Request{Release: "a", Capabilities: render.Capabilities{KubeVersion: "v1.36.0"}})
			}
			if err == nil {
				t.Error("it is rendered")
			}
		})
	}
}

func TestDigestOfAnArchiveIsItsSHA256(t *testing.T) {
	data := pack(t, entry{"big/Chart.yaml", []byte(chartYAML)})
	one, err := render.Archive(data)
	if err != nil {
		t.Fatal(err)
	}
	if d := one.Digest(); !strings.HasPrefix(d, "sha256:") || len(d) != len("sha256:")+64 {
		t.Errorf("digest %q", d)
	}
}

func FuzzArchive(f *testing.F) {
	for _, chart := range []string{"plain", "parent", "hooks", "capable", "v1", "schema"} {
		f.Add(pack(f, entriesOf(f, chart)...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		source, err := render.Archive(data)
		if err != nil {
			return
		}
		renderAny(t, source, nil)
	})
}

// FuzzChart changes the files of a chart, which in an archive a checksum protects.
func FuzzChart(f *testing.F) {
	f.Add(chartYAML, "a: 1\n", `{"type": "object"}`, "kind: {{ .Values.a }}\n")
	f.Add("dependencies: [null]\n"+chartYAML, "a: [", `{}`, "kind: List\nitems: [null]\n")
	f.Add(chartYAML, "b: {c: null}", `{"$ref": "#"}`, "kind: A\nmetadata: {annotations: {helm.sh/hook: test}}\n")
	f.Fuzz(func(t *testing.T, chart, values, schema, template string) {
		if strings.Contains(template, "{{") { // loops and memory are the chart's to waste
			template = strings.ReplaceAll(template, "{{", "{ {")
		}
		source, err := render.Archive(pack(t, entry{"c/Chart.yaml", []byte(chart)}, entry{"c/values.yaml", []byte(values)},
			entry{"c/values.schema.json", []byte(schema)}, entry{"c/templates/a.yaml", []byte(template)}, entry{"c/crds/a.yaml", []byte(template)}))
		if err != nil {
			return
		}
		renderAny(t, source, nil)
	})
}

func FuzzValues(f *testing.F) {
	for _, seed := range []string{"a: 1000000\n", "global: {a: null}\nchild: [1]\ntags: 1\n", "child: {enabled: x, color: {a: 1}}\ntwin: null\n", "? [a]\n: b\n", "a: &x [*x]\n"} {
		f.Add([]byte(seed))
	}
	source, err := render.Open(chartDir("parent"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		values, err := render.Values(text)
		if err != nil {
			return
		}
		renderAny(t, source, values)
	})
}

// renderAny fails if the render panics. It may fail otherwise.
func renderAny(t *testing.T, source *render.Source, values map[string]any) {
	t.Helper()
	req := render.Request{Release: "shop", Namespace: "trade", Values: values, OwnAPIs: true}
	req.KubeVersion = "v1.36.0"
	result, err := render.Chart(t.Context(), source, req)
	if errors.Is(err, render.ErrPanic) {
		t.Fatal(err)
	}
	if err != nil {
		return
	}
	if !bytes.HasSuffix([]byte(result.Text(true)), []byte("\n")) {
		t.Error("the text does not end with a line")
	}
	_, _ = result.Set() // any error will do
}
