package look

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/fairlead/activities/addon/kept"
	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/mask"
	"example.com/fairlead/activities/addon/plan"
	"example.com/fairlead/activities/addon/source"
)

func id(kind, name string) manifest.ID {
	return manifest.ID{GroupKind: schema.GroupKind{Kind: kind}, Namespace: "shop", Name: name}
}

// items are those of an action, with one-letter names from the letter on.
func items(action plan.Action, from rune, n int) []plan.Item {
	var out []plan.Item
	for i := range n {
		out = append(out, plan.Item{ID: id("ConfigMap", string(from+rune(i))), Action: action, UID: "u"})
	}
	return out
}

func inventory(kind string, n int) kept.Inventory {
	var out kept.Inventory
	for i := range n {
		out = append(out, plan.Owned{ID: id(kind, fmt.Sprint(i)), UID: "u"})
	}
	return out
}

func TestFacts(t *testing.T) {
	foreign := plan.Item{ID: id("Secret", "s"), Action: plan.Unchanged, Unmarked: true, Blocked: "it belongs to the add-on other"}
	for name, c := range map[string]struct {
		items    []plan.Item
		previous kept.Inventory
		made     source.Rendered
		want     Facts
	}{
		"nothing to do": {
			items: append(items(plan.Unchanged, 'a', 2), items(plan.Keep, 'c', 1)...),
		},
		"objects without the label are written": {
			items: []plan.Item{{ID: id("Secret", "s"), Action: plan.Unchanged, Unmarked: true}},
			want:  Facts{Writes: 1, Summary: "mark Secret shop/s"},
		},
		"what is another's is not": {
			items: []plan.Item{foreign},
			want:  Facts{Blocked: "Secret shop/s: it belongs to the add-on other"},
		},
		"a removal of more than half": {
			items: items(plan.Prune, 'a', 3), previous: inventory("ConfigMap", 5),
			want: Facts{
				Writes: 3, Summary: "prune ConfigMap shop/a, prune ConfigMap shop/b, prune ConfigMap shop/c",
				Mass: "a sync would delete 3 of 5 objects: approve the plan if that is meant, or mend the source",
			},
		},
		"a removal of half": {
			items: items(plan.Prune, 'a', 3), previous: inventory("ConfigMap", 6),
			want: Facts{Writes: 3, Summary: "prune ConfigMap shop/a, prune ConfigMap shop/b, prune ConfigMap shop/c"},
		},
		"a small removal": {
			items: items(plan.Prune, 'a', 2), previous: inventory("ConfigMap", 2),
			want: Facts{Writes: 2, Summary: "prune ConfigMap shop/a, prune ConfigMap shop/b"},
		},
		"kinds that are never deleted do not count": {
			items: items(plan.Prune, 'a', 3), previous: append(inventory("ConfigMap", 5), inventory("PersistentVolumeClaim", 9)...),
			want: Facts{
				Writes: 3, Summary: "prune ConfigMap shop/a, prune ConfigMap shop/b, prune ConfigMap shop/c",
				Mass: "a sync would delete 3 of 5 objects: approve the plan if that is meant, or mend the source",
			},
		},
		"a secret in a warning": {
			made: source.Rendered{Warning: "it has c4nary-c4nary", Partial: "x is unknown"},
			want: Facts{Warning: "it has <secret>; x is unknown"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := factsOf(&plan.Plan{Items: c.items}, c.previous, c.made, mask.New([][]byte{[]byte("c4nary-c4nary")}))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFactsAreBounded(t *testing.T) {
	var all []plan.Item
	for i := range 2000 {
		name := strings.Repeat("n", 200) + fmt.Sprint(i)
		all = append(all, plan.Item{ID: id("ConfigMap", name), Action: plan.Update, Adopts: true, Blocked: strings.Repeat("b", 5000)})
	}
	f := factsOf(&plan.Plan{Items: all}, nil, source.Rendered{Warning: strings.Repeat("w", 9000)}, mask.Mask{})
	for name, text := range map[string]string{"summary": f.Summary, "blocked": f.Blocked, "adopts": f.Adopts, "warning": f.Warning} {
		if len(text) > 1100 || text == "" {
			t.Errorf("the %s has %d bytes", name, len(text))
		}
	}
	if !strings.HasSuffix(f.Summary, " and 1998 more") || len(f.Summary) > maxSummary {
		t.Errorf("the summary is %q", f.Summary)
	}
}

func TestInventories(t *testing.T) {
	p := &plan.Plan{Items: []plan.Item{
		{ID: id("ConfigMap", "new"), Action: plan.Create},
		{ID: id("ConfigMap", "ours"), Action: plan.Update, UID: "1"},
		{ID: id("ConfigMap", "adoptee"), Action: plan.Update, UID: "2", Adopts: true},
		{ID: id("ConfigMap", "blocked"), Action: plan.Unchanged, UID: "3", Blocked: "no"},
		{ID: id("ConfigMap", "pruned"), Action: plan.Prune, UID: "4"},
		{ID: id("ConfigMap", "stays"), Action: plan.Keep, UID: "5"},
		{ID: id("ConfigMap", "lost"), Action: plan.Keep, UID: "6", Foreign: true},
	}}
	previous := kept.Inventory{
		{ID: id("ConfigMap", "lost"), UID: "0"}, {ID: id("ConfigMap", "ours"), UID: "0"},
		{ID: id("ConfigMap", "pruned"), UID: "4"}, {ID: id("ConfigMap", "stays"), UID: "5"},
	}
	want := kept.Inventory{
		{ID: id("ConfigMap", "adoptee")}, {ID: id("ConfigMap", "blocked")}, {ID: id("ConfigMap", "lost"), UID: "0"},
		{ID: id("ConfigMap", "new")}, {ID: id("ConfigMap", "ours"), UID: "1"}, {ID: id("ConfigMap", "pruned"), UID: "4"},
		{ID: id("ConfigMap", "stays"), UID: "5"},
	}
	if diff := cmp.Diff(want, union(previous, p)); diff != "" {
		t.Errorf("what may be there (-want +got):\n%s", diff)
	}
	want = kept.Inventory{{ID: id("ConfigMap", "ours"), UID: "9"}, {ID: id("ConfigMap", "stays"), UID: "5"}}
	if diff := cmp.Diff(want, After(p, map[manifest.ID]types.UID{id("ConfigMap", "ours"): "9"})); diff != "" {
		t.Errorf("what is there then (-want +got):\n%s", diff)
	}
}
