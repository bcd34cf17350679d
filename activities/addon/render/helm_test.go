package render_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/addon/render"
	"example.com/fairlead/deploy/local/localtest"
)

// templating is one call of `helm template`, and what it is here.
type templating struct {
	chart       string
	values      []string
	kubeVersion string
	apiVersions []string
}

// withHelm is what Helm prints.
func (c templating) withHelm(t *testing.T, path string, hooks bool) (string, error) {
	t.Helper()
	args := []string{"template", "shop", path, "-n", "trade", "--include-crds"}
	if !hooks {
		args = append(args, "--no-hooks")
	}
	for _, v := range c.values {
		args = append(args, "--values", valuesFile(v))
	}
	if c.kubeVersion != "" {
		args = append(args, "--kube-version", c.kubeVersion)
	}
	for _, v := range c.apiVersions {
		args = append(args, "--api-versions", v)
	}
	return helm(t, args...)
}

// helm runs the Helm CLI, which finds no settings, plugins or cluster.
func helm(t *testing.T, args ...string) (string, error) {
	t.Helper()
	program := filepath.Join(localtest.Dir(t), "helm")
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("there is no Helm to compare with, deploy/tools/build.sh helm builds it: %v", err)
	}
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), program, args...) // #nosec G204 -- the Helm of the tests
	cmd.Env = []string{"HOME=" + home, "HELM_CACHE_HOME=" + home, "HELM_CONFIG_HOME=" + home, "HELM_DATA_HOME=" + home}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("helm %v: %w: %s", args, err, &errs)
	}
	return out.String(), nil
}

// here is what this package makes of it.
func (c templating) here(path string, hooks bool) (string, error) {
	source, err := render.Open(path)
	if err != nil {
		return "", err
	}
	req := render.Request{Release: "shop", Namespace: "trade"}
	for _, v := range c.values {
		text, err := os.ReadFile(valuesFile(v))
		if err != nil {
			return "", err
		}
		values, err := render.HelmValues(text)
		if err != nil {
			return "", err
		}
		req.Values = render.Merge(req.Values, values)
	}
	if req.Capabilities, err = render.Offline(c.kubeVersion, c.apiVersions); err != nil {
		return "", err
	}
	result, err := render.Chart(context.Background(), source, req)
	if err != nil {
		return "", err
	}
	return result.Text(hooks), nil
}

func valuesFile(name string) string { return filepath.Join("testdata", "values", name+".yaml") }

func chartDir(name string) string { return filepath.Join("testdata", "charts", name) }

func TestSameBytesAsHelm(t *testing.T) {
	cases := map[string]templating{
		"defaults, built-in objects, functions, order": {chart: "plain"},
		"values over defaults, null drops a default":   {chart: "plain", values: []string{"plain"}},
		"later values win":                             {chart: "plain", values: []string{"plain", "plain-over"}},
		"values of another kind than the defaults":     {chart: "parent", values: []string{"conflict"}},
		"empty values":                                 {chart: "plain", values: []string{"empty"}},
		"capabilities of Helm itself":                  {chart: "capable"},
		"a Kubernetes version and APIs":                {chart: "capable", kubeVersion: "1.29.3", apiVersions: []string{"example.com/v1", "example.com/v1/Widget"}},
		"a Kubernetes version of a distribution":       {chart: "capable", kubeVersion: "v1.30.1+k3s1"},
		"a Kubernetes version that the chart takes":    {chart: "old", kubeVersion: "1.19"},
		"subcharts, aliases, import-values, a library": {chart: "parent"},
		"conditions":                              {chart: "parent", values: []string{"parent"}},
		"tags and globals":                        {chart: "parent", values: []string{"untagged"}},
		"conditions and tags":                     {chart: "parent", values: []string{"parent", "untagged"}},
		"files, byte order marks, CRLF":           {chart: "files"},
		"a schema":                                {chart: "schema"},
		"hooks":                                   {chart: "hooks"},
		"a chart that makes nothing":              {chart: "nothing"},
		"keys that are twice":                     {chart: "doubled"},
		"requirements.yaml":                       {chart: "v1"},
		"large integers, which Helm makes floats": {chart: "numbers", values: []string{"numbers"}},
		"integers that are formatted as floats":   {chart: "formats", values: []string{"million"}},
		"integers that are compared with floats":  {chart: "compares", values: []string{"million"}},
		"lookup without a cluster":                {chart: "capable", values: []string{"plain"}},
		"what a template requires":                {chart: "fails", values: []string{"name"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.compare(t, chartDir(c.chart))
		})
		t.Run(name+", packaged", func(t *testing.T) {
			c.compare(t, packaged(t, c.chart))
		})
	}
}

func (c templating) compare(t *testing.T, path string) {
	t.Helper()
	for _, hooks := range []bool{false, true} {
		want, err := c.withHelm(t, path, hooks)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.here(path, hooks)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("with hooks %v: not what Helm prints (-helm +here):\n%s", hooks, diff)
		}
	}
}

// The chart that Helm makes for a start uses what most charts use.
func TestSameBytesAsHelmForItsOwnChart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "demo")
	if _, err := helm(t, "create", path); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]templating{
		"defaults":         {},
		"everything":       {values: []string{"demo"}},
		"older Kubernetes": {values: []string{"demo"}, kubeVersion: "1.22"},
	} {
		t.Run(name, func(t *testing.T) { c.compare(t, path) })
	}
}

func TestFailsWhereHelmFails(t *testing.T) {
	cases := map[string]templating{
		"a value that is required":              {chart: "fails"},
		"a document that is no YAML":            {chart: "bad-yaml"},
		"a library":                             {chart: "library"},
		"a Kubernetes version it does not take": {chart: "old"},
		"values that do not fit the schema":     {chart: "schema", values: []string{"bad-port"}},
		"a dependency that is missing":          {chart: "missing"},
		"values that are a list":                {chart: "plain", values: []string{"list"}},
		"a version that is none":                {chart: "plain", kubeVersion: "newest"},
		"a template that includes itself":       {chart: "recursive"},
		"the environment":                       {chart: "env"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := c.withHelm(t, chartDir(c.chart), true); err == nil {
				t.Error("Helm renders it")
			}
			if text, err := c.here(chartDir(c.chart), true); err == nil {
				t.Errorf("it is rendered:\n%s", text)
			}
		})
	}
}
