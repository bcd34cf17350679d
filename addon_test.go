package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/deploy/local/localtest"
)

var renderData = filepath.Join("activities", "addon", "render", "testdata")

// stdout of a program that must end well.
func stdout(t *testing.T, name string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), name, args...) // #nosec G204 -- the programs under test
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, &errs)
	}
	return out.String()
}

func TestAddonRenderPrintsWhatHelmPrints(t *testing.T) {
	chart, values := filepath.Join(renderData, "charts", "hooks"), filepath.Join(renderData, "values", "plain.yaml")
	for _, hooks := range []bool{false, true} {
		ours := []string{"addon", "render", "--chart", chart, "--release", "shop", "-n", "trade", "--values", values, "--kube-version", "1.30", "--api-versions", "a/v1,b/v1"}
		helms := []string{"template", "shop", chart, "-n", "trade", "--include-crds", "--values", values, "--kube-version", "1.30", "--api-versions", "a/v1,b/v1"}
		if hooks {
			ours = append(ours, "--with-hooks")
		} else {
			helms = append(helms, "--no-hooks")
		}
		want := stdout(t, filepath.Join(localtest.Dir(t), "helm"), helms...)
		if diff := cmp.Diff(want, stdout(t, program, ours...)); diff != "" {
			t.Errorf("with hooks %v (-helm +fairlead):\n%s", hooks, diff)
		}
	}
}

func TestAddonRenderNamesTheRemedy(t *testing.T) {
	chart := func(name string) string { return filepath.Join(renderData, "charts", name) }
	cases := map[string]struct {
		args []string
		says string
	}{
		"no chart":             {args: []string{"--release", "shop"}, says: "give --chart"},
		"no release":           {args: []string{"--chart", chart("plain")}, says: "give --release"},
		"a chart that is not":  {args: []string{"--chart", "nowhere", "--release", "shop"}, says: "nowhere"},
		"values that are not":  {args: []string{"--chart", chart("plain"), "--release", "shop", "--values", "nowhere.yaml"}, says: "nowhere.yaml"},
		"values that are bad":  {args: []string{"--chart", chart("plain"), "--release", "shop", "--values", filepath.Join(renderData, "values", "list.yaml")}, says: "list.yaml"},
		"a version that is no": {args: []string{"--chart", chart("plain"), "--release", "shop", "--kube-version", "newest"}, says: "--kube-version"},
		"a missing dependency": {args: []string{"--chart", chart("missing"), "--release", "shop"}, says: "absent 1.0.0"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out, err := exec.CommandContext(t.Context(), program, append([]string{"addon", "render"}, c.args...)...).CombinedOutput() // #nosec G204 -- the program under test
			if err == nil || !strings.Contains(string(out), c.says) {
				t.Errorf("got %v, %q, want an error that says %q", err, out, c.says)
			}
		})
	}
}
