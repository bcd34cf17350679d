package render_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/fairlead/activities/addon/render"
)

// What a user keeps in a Secret must not come out in a text that is stored.
func TestErrorsDoNotTellSecrets(t *testing.T) {
	const canary = "canary-of-the-values"
	for name, c := range map[string]struct{ template, schema, says string }{
		"a template that fails with it": {template: `{{ fail (printf "cannot take %s" .Values.password) }}`, says: "cannot take <secret>"},
		"a template that quotes it":     {template: `{{ fail (quote .Values.password) }}`, says: `"<secret>"`},
		"a template that encodes it":    {template: `{{ fail (b64enc .Values.password) }}`, says: "<secret>"},
		"a text for tpl that has it":    {template: `{{ tpl (printf "{{ %s" .Values.password) . }}`, says: "<secret>"},
		"a long message": {
			template: `{{ fail (printf "%s%s" (repeat 3000 "long ") .Values.password) }}`, says: "<secret>",
		},
		"a schema that it does not fit": {
			schema: `{"properties": {"password": {"type": "string", "pattern": "^[0-9]+$"}}}`, says: "<secret>",
		},
		"a document that is no YAML":   {template: "a: {{ .Values.password }}\n  b: c", says: "YAML"},
		"a document that is no object": {template: "{{ .Values.password }}: &a *a", says: ""},
		"an object of no API": {
			template: "apiVersion: {{ .Values.password }}/a/b\nkind: A\nmetadata: {name: a}", says: "<secret>/a/b",
		},
		"an object that is none": {
			template: "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: !!int {{ .Values.password }}", says: "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := failure(t, c.template, c.schema, canary)
			if err == nil {
				t.Fatal("it is rendered")
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error %q does not say %q", err, c.says)
			}
			for ; err != nil; err = errors.Unwrap(err) {
				if text := fmt.Sprintf("%+v", err); strings.Contains(text, canary) {
					t.Errorf("the secret is in %q", text)
				}
			}
		})
	}
}

// failure is why a chart with one template cannot be made a set.
func failure(t *testing.T, template, schema, password string) error {
	t.Helper()
	files := map[string]string{
		"Chart.yaml": "apiVersion: v2\nname: told\nversion: 1.0.0\n", "templates/a.yaml": template,
	}
	if schema != "" {
		files["values.schema.json"] = schema
	}
	source, err := render.Directory(onDisk(t, files))
	if err != nil {
		t.Fatal(err)
	}
	req := render.Request{
		Release: "shop", Namespace: "trade", Values: map[string]any{"password": password}, Secrets: [][]byte{[]byte(password)},
	}
	if req.Capabilities, err = render.Offline("", nil); err != nil {
		t.Fatal(err)
	}
	result, err := render.Chart(t.Context(), source, req)
	if err != nil {
		return err
	}
	_, err = result.Set()
	return err
}

func onDisk(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
