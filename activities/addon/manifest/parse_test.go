package manifest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// head starts an object that is complete without anything more.
const head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"

// values are the objects of a file.
func values(t *testing.T, text string) []map[string]any {
	t.Helper()
	objects, err := Parse("file.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]any
	for _, o := range objects {
		if o.Source != "file.yaml" {
			t.Errorf("the source of %s is %q", o.ID(), o.Source)
		}
		all = append(all, o.Object)
	}
	return all
}

// configMap is what head says, with more fields.
func configMap(fields map[string]any) map[string]any {
	object := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}}
	for name, value := range fields {
		object[name] = value
	}
	return object
}

func TestParseSplitsDocuments(t *testing.T) {
	one := []map[string]any{configMap(nil)}
	two := []map[string]any{configMap(nil), configMap(nil)}
	for name, tt := range map[string]struct {
		text string
		want []map[string]any
	}{
		"nothing":                              {"", nil},
		"only comments":                        {"# a\n---\n# b\n", nil},
		"null":                                 {"---\nnull\n---\n~\n", nil},
		"one without separators":               {head, one},
		"one between separators":               {"---\n" + head + "---\n", one},
		"two":                                  {head + "---\n" + head, two},
		"two with empty ones between":          {head + "---\n\n---\n# none\n---\n" + head, two},
		"a comment behind the separator":       {head + "--- # and another\n" + head, two},
		"content glued to the separator":       {"---" + head + "---" + head, two},
		"content behind the separator":         {"--- " + head, one},
		"the end of the last is marked":        {head + "...\n", one},
		"a byte order mark":                    {"\ufeff---\n" + head, one},
		"lines as Windows ends them":           {strings.ReplaceAll(head+"---\n"+head, "\n", "\r\n"), two},
		"no newline at the end":                {strings.TrimSuffix(head, "\n"), one},
		"JSON":                                 {`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`, one},
		"JSON with tabs, which are no YAML":    {"{\n\t\"apiVersion\":\t\"v1\",\n\t\"kind\": \"ConfigMap\",\n\t\"metadata\": {\"name\": \"a\"}\n}", one},
		"JSON with a pair that YAML lacks":     {`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"x":"\ud83d\ude00"}`, []map[string]any{configMap(map[string]any{"x": "😀"})}},
		"dashes in a block of text":            {head + "x: |\n  a\n  ---\n  b\n", []map[string]any{configMap(map[string]any{"x": "a\n---\nb\n"})}},
		"a certificate in a block of text":     {head + "x: |-\n  -----BEGIN\n  -----END\n", []map[string]any{configMap(map[string]any{"x": "-----BEGIN\n-----END"})}},
		"a separator in a text, more indented": {head + "x: |\n    ---\n---\n" + head, []map[string]any{configMap(map[string]any{"x": "---\n"}), configMap(nil)}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, values(t, tt.text)); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseKeepsValues(t *testing.T) {
	for text, want := range map[string]any{
		"1000000":               int64(1000000),
		"9007199254740993":      int64(1<<53 + 1),
		"9223372036854775807":   int64(math.MaxInt64),
		"-9223372036854775808":  int64(math.MinInt64),
		"9223372036854775808":   float64(1 << 63),
		"18446744073709551615":  float64(1 << 64),
		"0644":                  int64(0o644),
		"0o644":                 int64(0o644),
		"0x1F":                  int64(31),
		"1_000":                 int64(1000),
		"1:30":                  "1:30",
		"1.5":                   1.5,
		"1.0":                   int64(1),
		"1e3":                   int64(1000),
		"1e21":                  1e21,
		"yes":                   true,
		"on":                    true,
		"No":                    false,
		"y":                     true,
		`"yes"`:                 "yes",
		"~":                     nil,
		"null":                  nil,
		"2001-01-01":            "2001-01-01",
		"!!str 1":               "1",
		"!!binary aGk=":         "hi",
		"[1, two, [3.5]]":       []any{int64(1), "two", []any{3.5}},
		"{on: 1, 2: b, 1.5: c}": map[string]any{"true": int64(1), "2": "b", "1.5": "c"},
		"{a: &a {k: 1, l: 2}, b: {<<: *a, l: 3}}": map[string]any{
			"a": map[string]any{"k": int64(1), "l": int64(2)}, "b": map[string]any{"k": int64(1), "l": int64(3)},
		},
		// Behind what it overrides, a merge wins in yaml/v2.
		"{a: &a {l: 2}, b: {l: 3, <<: *a}}": map[string]any{
			"a": map[string]any{"l": int64(2)}, "b": map[string]any{"l": int64(2)},
		},
	} {
		t.Run(text, func(t *testing.T) {
			got := values(t, head+"x: "+text+"\n")
			if diff := cmp.Diff([]map[string]any{configMap(map[string]any{"x": want})}, got); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseReplacesListsByTheirItems(t *testing.T) {
	item := "- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"
	one := []map[string]any{configMap(nil)}
	for name, tt := range map[string]struct {
		text string
		want []map[string]any
	}{
		"a List":                 {"apiVersion: v1\nkind: List\nitems:\n" + item, one},
		"a List of none":         {"apiVersion: v1\nkind: List\nitems:\n", nil},
		"a list of a kind":       {"apiVersion: v1\nkind: ConfigMapList\nitems:\n" + item, one},
		"items that leave it to": {"apiVersion: v1\nkind: ConfigMapList\nitems: [{metadata: {name: a}}]\n", one},
		"a List in a List": {
			"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}]\n" + item,
			append(one, one...),
		},
		"an object that only sounds like one": {
			"apiVersion: v1\nkind: AllowList\nmetadata: {name: a}\n",
			[]map[string]any{{"apiVersion": "v1", "kind": "AllowList", "metadata": map[string]any{"name": "a"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, values(t, tt.text)); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseSaysWhatIsWrongAndWhere(t *testing.T) {
	nested := "{apiVersion: v1, kind: List, items: []}"
	for range maxListDepth + 1 {
		nested = fmt.Sprintf("{apiVersion: v1, kind: List, items: [%s]}", nested)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"no apiVersion":                 {head + "---\n\n# none\nkind: A\n", `file.yaml: document 2 (line 7): it has no apiVersion`},
		"no kind":                       {"apiVersion: v1\n", `file.yaml: document 1 (line 1): it has no kind`},
		"no metadata":                   {"---\nkind: A\napiVersion: v1\n", `file.yaml: document 1 (line 2): A: it has no metadata.name`},
		"an empty name":                 {"kind: A\napiVersion: v1\nmetadata: {name: ''}", `file.yaml: document 1 (line 1): A: it has no metadata.name`},
		"a number as name":              {"kind: A\napiVersion: v1\nmetadata: {name: 1}", `file.yaml: document 1 (line 1): A: its name is the number 1: put it in quotes`},
		"a boolean as space":            {"kind: A\napiVersion: v1\nmetadata: {name: a, namespace: on}", `file.yaml: document 1 (line 1): A: its namespace is the boolean true: put it in quotes`},
		"a number as label":             {"kind: A\napiVersion: v1\nmetadata: {name: a, labels: {x: 1}}", `file.yaml: document 1 (line 1): A: in its labels, its x is the number 1: put it in quotes`},
		"a number as version":           {"kind: A\napiVersion: 1\nmetadata: {name: a}", `file.yaml: document 1 (line 1): its apiVersion is the number 1: put it in quotes`},
		"text":                          {"only text", `file.yaml: document 1 (line 1): it is a string, not an object`},
		"an item":                       {"kind: List\napiVersion: v1\nitems: [{kind: A, apiVersion: v1}]", `file.yaml: document 1 (line 1): item 1: A: it has no metadata.name`},
		"no list of items":              {"kind: List\napiVersion: v1\nitems: {}", `file.yaml: document 1 (line 1): the items of the List are an object, not a list`},
		"lists too deep":                {nested, `lists are in lists more than 8 deep`},
		"a key twice":                   {head + "---\n" + head + "data:\n  a: 1\n  b: 2\n  a: 3\n", `file.yaml: document 2 (line 5): line 11: key "a" is already set in line 9`},
		"a key twice in a list":         {head + "x:\n- - {a: 1,\n     a: 1}\n", `line 6: key "a" is already set in line 5`},
		"a key twice in JSON":           {"{\"a\": {\n\"b\": 1,\n\"b\": 2}}", `line 3: key "b" is already set in line 2`},
		"a key twice, once quoted":      {head + "x:\n  a: 1\n  'a': 2\n", `line 6: key "a" is already set in line 5`},
		"a key twice beside a merge":    {head + "x: &x {a: 1}\ny:\n  <<: *x\n  b: 1\n  b: 2\n", `line 8: key "b" is already set in line 7`},
		"a number and its text as keys": {head + "x:\n  1: a\n  '1': b\n", `line 6: key "1" is already set in line 5`},
		"two spellings of one key":      {head + "x: {on: a, yes: b}\n", `line 4: key "true" is already set in line 4`},
		"one key in two types":          {head + "x: {0x1: a, '1': b}\n", `line 4: key "1" is already set in line 4`},
		"two spellings beside a merge":  {head + "x: &x {on: a}\ny: {<<: *x, on: a, yes: b}\n", `line 5: key "true" is already set in line 5`},
		"a null key":                    {head + "x: {~: a}\n", `a key is <nil> (<nil>): put it in quotes`},
		"not a number":                  {head + "x: .nan\n", `a value that JSON does not have`},
		"broken in the second document": {head + "---\na: b: c\n", `file.yaml: document 2 (line 5): yaml: line 5: mapping values are not allowed in this context`},
		"more behind the end":           {"a: 1\r---\ra: 2", `something follows the end of the document: start the next one with ---`},
		"an alias bomb":                 {head + bomb(9), `document contains excessive aliasing`},
		"small bombs":                   {strings.Repeat(head+bomb(3)+"---\n", 1000), `the file has more than 1000000 values`},
	} {
		t.Run(name, func(t *testing.T) {
			objects, err := Parse("file.yaml", []byte(tt.text))
			if err == nil {
				t.Fatalf("no error, and %d objects", len(objects))
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is\n%v\nand lacks\n%s", err, tt.want)
			}
		})
	}
}

// bomb is a field with ten to the power of n values.
func bomb(n int) string {
	var text strings.Builder
	text.WriteString("x0: &x0 1\n")
	for i := range n {
		fmt.Fprintf(&text, "x%d: &x%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*x%d,", i), 10), ","))
	}
	return text.String()
}

func TestParseAcceptsNamesThatTheServerMakes(t *testing.T) {
	objects, err := Parse("hook.yaml", []byte("apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: a-}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := objects[0].GetGenerateName(); got != "a-" {
		t.Errorf("the generateName is %q", got)
	}
}
