package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNormal(t *testing.T) {
	type object = map[string]any
	got := normal(object{
		"kind": "Thing",
		"metadata": object{
			"name": "a", "uid": "u", "resourceVersion": "1", "generation": int64(2), "creationTimestamp": "now", "selfLink": "/a", "managedFields": []any{},
			"labels":      object{"rendimiento.ai/addon": "shop"},
			"annotations": object{"kubectl.kubernetes.io/last-applied-configuration": "{}", "meta.helm.sh/release-name": "r", "kept": "x"},
		},
		"spec":   object{"a": int64(1), "list": []any{"x", "y"}, "deep": object{"only": "z"}},
		"status": object{"ready": true},
	}, []pointer{parsePointer("/spec/list/0"), parsePointer("/spec/deep/only"), parsePointer("/spec/absent/~1x~0")})
	want := object{
		"kind":     "Thing",
		"metadata": object{"name": "a", "annotations": object{"kept": "x"}},
		"spec":     object{"a": int64(1), "list": []any{"y"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCompare(t *testing.T) {
	type object = map[string]any
	tests := map[string]struct {
		live, planned object
		want          []change
	}{
		"nothing":               {live: object{"a": "x"}, planned: object{"a": "x"}},
		"a field":               {live: object{"a": object{"b": "x", "c": "y"}}, planned: object{"a": object{"b": "z", "c": "y"}}, want: []change{{"/a/b", "x"}}},
		"a field that comes":    {live: object{}, planned: object{"a": "x"}, want: []change{{"/a", nil}}},
		"a field that goes":     {live: object{"a": "x"}, planned: object{}, want: []change{{"/a", "x"}}},
		"an element":            {live: object{"a": []any{"x", "y"}}, planned: object{"a": []any{"x", "z"}}, want: []change{{"/a/1", "y"}}},
		"a list of more":        {live: object{"a": []any{"x"}}, planned: object{"a": []any{"x", "z"}}, want: []change{{"/a", []any{"x"}}}},
		"another kind of thing": {live: object{"a": []any{"x"}}, planned: object{"a": "x"}, want: []change{{"/a", []any{"x"}}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, compare(test.live, test.planned)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
