package definition_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"example.com/fairlead/api/addons/definition"
)

func TestValuesKeepWhatTheySay(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"no values":               {text: "", want: ""},
		"an empty map":            {text: "values: {}", want: ""},
		"nothing":                 {text: "values:", want: ""},
		"keys in another order":   {text: "values: {b: 1, a: {d: [2, 3], c: ''}}", want: "a:\n  c: \"\"\n  d:\n  - 2\n  - 3\nb: 1\n"},
		"integers":                {text: "values: {a: 9007199254740993, b: 18446744073709551615, c: -9223372036854775808, d: 1000000}", want: "a: 9007199254740993\nb: 18446744073709551615\nc: -9223372036854775808\nd: 1000000\n"},
		"octal, as YAML 1.1 does": {text: "values: {a: 0644}", want: "a: 420\n"},
		"fractions":               {text: "values: {a: 0.1, b: 1.5e-9, c: 1e30}", want: "a: 0.1\nb: 1.5e-09\nc: 1e+30\n"},
		"texts like others":       {text: "values: {a: '1', b: 'yes', c: 'null', d: '1e3', e: '2001-01-01', f: '<<', g: ''}", want: "a: \"1\"\nb: \"yes\"\nc: \"null\"\nd: \"1e3\"\ne: \"2001-01-01\"\nf: <<\ng: \"\"\n"},
		"words of YAML 1.1":       {text: "values: {a: yes, b: off}", want: "a: true\nb: false\n"},
		"null, which Helm reads":  {text: "values: {a: null}", want: "a: null\n"},
		"a block":                 {text: "values:\n  a: |\n    one\n    two\n", want: "a: |\n  one\n  two\n"},
		"an anchor of elsewhere":  {text: "title: &t Web\nvalues: {a: *t}", want: "a: Web\n"},
		"a merge":                 {text: "values: {a: &a {b: 1, c: 2}, d: {<<: *a, b: 3}}", want: "a:\n  b: 1\n  c: 2\nd:\n  b: 3\n  c: 2\n"},
		"a control character":     {text: `values: {a: "\x7f"}`, want: "a: \"\\x7F\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := definition.Parse("web.yaml", []byte(base+chart+test.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, d.Spec.Values); diff != "" {
				t.Errorf("they are others (- wanted, + got):\n%s", diff)
			}
		})
	}
}

// FuzzParse holds that nothing makes Parse panic, that values say as text what they said in
// the file, and that the API server takes what Parse takes.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		longhorn, umami, full, git(""), "", "---\n", "...\n", "- a", "{", "\x00", "\xff\xfea\x00", "a: &a [*a]", "? [a]\n: b", "{1: a, 1.5: b}",
		base + chart + "values: {a: 0644, b: on, c: 1e3, d: .inf}", base + chart + "values: {<<: {a: 1}, a: 2}", base + chart + "values: {a: !!binary /w==}",
		base + chart + `values: {"a\x7f\ufeff": "\u2028", '': ~}`, base + "helm: {<<: [{repo: 'https://a.example.com'}, {chart: a, version: 1.0.0}]}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := definition.Parse("a.yaml", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "a.yaml:") {
				t.Errorf("%q does not say in which file", err)
			}
			return
		}
		var whole struct {
			Values json.RawMessage `json:"values"`
		}
		if err := yaml.Unmarshal(text, &whole); err != nil {
			t.Fatal(err)
		}
		var want, got map[string]any
		if err := json.Unmarshal(append([]byte(nil), whole.Values...), &want); len(whole.Values) > 0 && err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal([]byte(d.Spec.Values), &got); err != nil {
			t.Fatalf("%q: %v", d.Spec.Values, err)
		}
		if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
			t.Errorf("the values are others (- file, + object):\n%s", diff)
		}
		serverTakes(t, d)
	})
}
