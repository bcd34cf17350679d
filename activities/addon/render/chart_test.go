package render_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"example.com/fairlead/activities/addon/render"
)

func TestSaysWhatIsWrongWithAChart(t *testing.T) {
	cases := map[string]struct {
		chart  string
		values string
		is     error
		says   []string
	}{
		"missing dependency":             {chart: "missing", is: render.ErrMissing, says: []string{"chart missing", "absent 1.0.0"}},
		"missing dependency of a child":  {chart: "missing-below", is: render.ErrMissing, says: []string{"missing-below/charts/child", "absent 1.0.0"}},
		"dependency in another version":  {chart: "wrong-version", is: render.ErrMissing, says: []string{"child >=2.0.0"}},
		"schema":                         {chart: "schema", values: "bad-port", says: []string{"schema/values.schema.json", "'/port'", "want integer", "'name'"}},
		"schema that reads another file": {chart: "schema-remote", says: []string{"schema-remote/values.schema.json", "/etc/hostname", "not followed"}},
		"document that is no YAML":       {chart: "bad-yaml", says: []string{"bad-yaml/templates/x.yaml", "line 5"}},
		"required value":                 {chart: "fails", says: []string{"fails/templates/x.yaml:6", "a name is needed"}},
		"environment":                    {chart: "env", says: []string{"env/templates/x.yaml", `"env" not defined`}},
		"recursion":                      {chart: "recursive", says: []string{"recursive/templates/x.yaml", "nested reference name: r"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := chartOf(t, c.chart, func(r *render.Request) {
				if c.values != "" {
					r.Values = exact(t, c.values)
				}
			})
			if err == nil {
				t.Fatal("it is rendered")
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%v is no %v", err, c.is)
			}
			for _, word := range c.says {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not say %q", err, word)
				}
			}
			if len(err.Error()) > 8192 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

func TestRefusesAReleaseNameThatHelmRefuses(t *testing.T) {
	_, err := chartOf(t, "plain", func(r *render.Request) { r.Release = "Not_A_Name" })
	if err == nil || !strings.Contains(err.Error(), "Not_A_Name") {
		t.Errorf("got error %v, want one that names the release", err)
	}
}

func TestAChartSeesItsOwnAPIsOnlyWhenAsked(t *testing.T) {
	for own, want := range map[bool]string{false: `widgets: "false false"`, true: `widgets: "true true"`} {
		result, err := chartOf(t, "capable", func(r *render.Request) { r.OwnAPIs = own })
		if err != nil {
			t.Fatal(err)
		}
		text := result.Text(false)
		if !strings.Contains(text, want) {
			t.Errorf("with OwnAPIs %v, %q is not in\n%s", own, want, text)
		}
		if strings.Contains(text, "example.com/v1alpha1\\\"") {
			t.Error("it sees a version that is not served")
		}
	}
}

func TestAClustersCapabilitiesReplaceHelms(t *testing.T) {
	data := dataOfCapable(t, render.Capabilities{KubeVersion: "v1.36.1+k3s1", APIVersions: []string{"v1", "example.com/v1"}})
	for key, want := range map[string]string{
		"version": "v1.36.1+k3s1 v1.36.1+k3s1 v1.36.1+k3s1",
		"minor":   "1.36",
		"all":     `["v1","example.com/v1"]`,
		"widgets": "true false",
		"apps":    "false",
	} {
		if data[key] != want {
			t.Errorf("%s is %q, want %q", key, data[key], want)
		}
	}
}

func dataOfCapable(t *testing.T, caps render.Capabilities) map[string]string {
	t.Helper()
	objects := setOf(t, "capable", func(r *render.Request) { r.Capabilities = caps }).Objects
	data := map[string]string{}
	in, _ := objects[len(objects)-1].Object["data"].(map[string]any)
	for k, v := range in {
		data[k], _ = v.(string)
	}
	return data
}

func TestDigestTellsInputsApart(t *testing.T) {
	source, err := render.Open(chartDir("plain"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := render.Open(chartDir("hooks"))
	if err != nil {
		t.Fatal(err)
	}
	base := render.Request{Release: "shop", Namespace: "trade", Hash: hash, Values: map[string]any{"a": "b"}}
	base.Capabilities = render.Capabilities{KubeVersion: "v1.36.0", APIVersions: []string{"v1", "apps/v1"}}
	digest := func(s *render.Source, change func(*render.Request)) render.Digest {
		req := base
		change(&req)
		d, err := req.Digest(s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	want := digest(source, func(*render.Request) {})
	content := map[string]render.Digest{
		"values":    digest(source, func(r *render.Request) { r.Values = map[string]any{"a": "c"} }),
		"release":   digest(source, func(r *render.Request) { r.Release = "other" }),
		"namespace": digest(source, func(r *render.Request) { r.Namespace = "other" }),
		"chart":     digest(other, func(*render.Request) {}),
	}
	for what, got := range content {
		if got.Content == want.Content || got.Cluster != want.Cluster {
			t.Errorf("another %s: got %v, after %v", what, got, want)
		}
	}
	cluster := map[string]render.Digest{
		"version":  digest(source, func(r *render.Request) { r.KubeVersion = "v1.36.1" }),
		"API list": digest(source, func(r *render.Request) { r.APIVersions = []string{"v1"} }),
	}
	for what, got := range cluster {
		if got.Content != want.Content || got.Cluster == want.Cluster {
			t.Errorf("another %s: got %v, after %v", what, got, want)
		}
	}
	reordered := digest(source, func(r *render.Request) { slices.Reverse(r.APIVersions) })
	if reordered != want {
		t.Errorf("the order of the API list changes the digest to %v from %v", reordered, want)
	}
	keyedHash := func(b []byte) string { return "keyed " + hash(b) }
	if keyed := digest(source, func(r *render.Request) { r.Hash = keyedHash }); keyed.Content != "keyed "+want.Content {
		t.Errorf("the digest is %s, not what Hash says: secret values could be guessed from it", keyed.Content)
	}
	base.Hash = nil
	if _, err := base.Digest(source); err == nil {
		t.Error("a digest is made without a hash")
	}
}
