package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	enumspb "go.temporal.io/api/enums/v1"
)

const (
	keyword = enumspb.INDEXED_VALUE_TYPE_KEYWORD
	boolean = enumspb.INDEXED_VALUE_TYPE_BOOL
)

func TestAddAliases(t *testing.T) {
	type attributes map[string]enumspb.IndexedValueType
	tests := map[string]struct {
		have    map[string]string
		want    attributes
		aliases map[string]string
		changed bool
	}{
		"a new namespace": {
			want:    attributes{"B": keyword, "A": keyword, "C": boolean},
			aliases: map[string]string{"Keyword01": "A", "Keyword02": "B", "Bool01": "C"},
			changed: true,
		},
		"what is there keeps its column": {
			have:    map[string]string{"Keyword02": "B"},
			want:    attributes{"A": keyword, "B": keyword, "C": keyword},
			aliases: map[string]string{"Keyword01": "A", "Keyword02": "B", "Keyword03": "C"},
			changed: true,
		},
		"what nobody asks for any more stays": {
			have:    map[string]string{"Keyword01": "Old"},
			aliases: map[string]string{"Keyword01": "Old"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			aliases, changed, err := addAliases(test.have, test.want)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.aliases, aliases); diff != "" {
				t.Error("aliases (-want +got):\n", diff)
			}
			if changed != test.changed {
				t.Errorf("changed is %t, want %t", changed, test.changed)
			}
		})
	}
	t.Run("another type is refused", func(t *testing.T) {
		_, _, err := addAliases(map[string]string{"Keyword01": "A"}, attributes{"A": boolean})
		if err == nil || !strings.Contains(err.Error(), "search attribute A is a Keyword already and cannot become a Bool") {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("more than there are columns are refused", func(t *testing.T) {
		_, _, err := addAliases(nil, attributes{"A": boolean, "B": boolean, "C": boolean, "D": boolean})
		if err == nil || !strings.Contains(err.Error(), "add search attribute D: all 3 search attributes of type Bool are used") {
			t.Errorf("error is %v", err)
		}
	})
}
