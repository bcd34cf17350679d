package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// FuzzDecodeIsWhatKubectlReads compares one document with what Helm and kubectl read.
func FuzzDecodeIsWhatKubectlReads(f *testing.F) {
	for _, seed := range []string{
		head, "a: 0644\nb: on\nc: 1e3\nd: -0.0\n", "a: &a {b: 1}\nc: {<<: *a, d: 2}", "{1: a, 1.5: b, true: c}",
		"a: !!timestamp 2001-01-01", "a: !!binary /w==", "? [a]\n: b", "a: 18446744073709551615", "- - -", "a: >\n b\n  c\n\n d", "%YAML 1.1\n---\na: 1",
		"a: .inf", "{.inf: 1}", "\xff\xfea\x00", "{\"a\":\t1}", "a: 4611686018427387904.0", "...\n", "a: !!float 1",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		budget := maxValues
		got, err := decode(document{text: text, line: 1}, &budget)
		if err != nil {
			return
		}
		data, err := yaml.YAMLToJSON(text)
		if err != nil {
			return // what is JSON and no YAML
		}
		var want any
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatalf("no JSON: %v", err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("value (-sigs.k8s.io/yaml +ours):\n%s", diff)
		}
	})
}

// FuzzParse holds that nothing makes Parse panic, and that what it accepts can be stored.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{head, head + "---\n" + head, "kind: List\napiVersion: v1\nitems: [{}]", "---", head + "x: {a: 1, a: 2}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		objects, err := Parse("file.yaml", text)
		if err != nil {
			return
		}
		set := Set{Objects: objects}
		data, err := Encode(set)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(set, back); diff != "" {
			t.Errorf("the set that comes back (-want +got):\n%s", diff)
		}
	})
}
