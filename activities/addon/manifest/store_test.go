package manifest

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func storable() Set {
	object := Object{
		Unstructured: &unstructured.Unstructured{Object: configMap(map[string]any{
			"exact": []any{int64(1<<53 + 1), int64(math.MinInt64), 1.5, 1e21, "<&>\u2028", nil, true}, "empty": map[string]any{},
		})},
		Source: "chart/templates/a.yaml",
		CRD:    true,
	}
	return Set{
		Objects: []Object{object},
		Hooks: []Hook{{
			Object: object, Events: []Event{PreInstall, PostUpgrade}, Weight: -5,
			DeletePolicies: []DeletePolicy{HookSucceeded}, LogPolicies: []LogPolicy{LogFailed},
		}},
	}
}

// A field that storable leaves out could be lost without a test that fails.
func TestStorableHasAllFields(t *testing.T) {
	set := storable()
	for _, whole := range []any{set, set.Objects[0], set.Hooks[0]} {
		v := reflect.ValueOf(whole)
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("%T.%s is not set", whole, v.Type().Field(i).Name)
			}
		}
	}
}

func TestDecodeGivesBackWhatWasEncoded(t *testing.T) {
	for name, set := range map[string]Set{"a set": storable(), "an empty set": {}} {
		t.Run(name, func(t *testing.T) {
			data, err := Encode(set)
			if err != nil {
				t.Fatal(err)
			}
			back, err := Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(set, back); diff != "" {
				t.Errorf("set (-want +got):\n%s", diff)
			}
		})
	}
}

// The bytes are an address in the set store: a change here makes every stored set new.
func TestEncodeWritesTheSameBytes(t *testing.T) {
	objects, err := Parse("f", []byte("kind: A\nmetadata: {name: a}\napiVersion: v1\nb: <1>\na: 9007199254740993\n"))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"objects":[{"source":"f","object":{"a":9007199254740993,"apiVersion":"v1","b":"<1>","kind":"A","metadata":{"name":"a"}}}]}` + "\n"
	for range 10 {
		data, err := Encode(Set{Objects: objects})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(data)); diff != "" {
			t.Fatalf("bytes (-want +got):\n%s", diff)
		}
	}
}

func TestDecodeRefusesWhatIsNoSet(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "decode a rendered set: unexpected end of JSON input",
		`{"objects":[{}]}`:            "decode object 1 of a rendered set: it has no apiVersion",
		`{"hooks":[{"object":null}]}`: "decode hook 1 of a rendered set: it has no apiVersion",
	} {
		if _, err := Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error about %q is %v, not %s", text, err, want)
		}
	}
}
