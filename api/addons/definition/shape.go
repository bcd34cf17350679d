package definition

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	yaml2 "go.yaml.in/yaml/v2"
	yaml3 "go.yaml.in/yaml/v3"
)

// problems are what is wrong with a file.
type problems struct {
	file  string
	lines map[string]int // by field, as git.path or dependsOn[0].name
	found []problem
}

type problem struct {
	line int
	text string
}

// add tells what is wrong with a field, at its line or at that of what should have it.
func (p *problems) add(field, format string, args ...any) {
	line, known := p.lines[field]
	for !known && field != "" {
		field = field[:max(strings.LastIndexAny(field, ".["), 0)]
		line, known = p.lines[field]
	}
	p.found = append(p.found, problem{line, fmt.Sprintf(format, args...)})
}

// err is all that was found, in the order of the file.
func (p *problems) err() error {
	slices.SortStableFunc(p.found, func(a, b problem) int { return a.line - b.line })
	all := make([]error, 0, len(p.found))
	for _, one := range p.found {
		all = append(all, fmt.Errorf("%s:%d: %s", p.file, one.line, one.text))
	}
	return errors.Join(all...)
}

// duplicates finds keys that are twice in a map, of values too.
func (p *problems) duplicates(node *yaml3.Node) {
	if node.Kind == yaml3.MappingNode {
		seen := map[string]int{}
		for i := 0; i < len(node.Content); i += 2 {
			key := node.Content[i]
			name := nameOf(key)
			if before, twice := seen[name]; twice {
				p.found = append(p.found, problem{key.Line, fmt.Sprintf("%q is set already in line %d", name, before)})
			}
			seen[name] = key.Line
		}
	}
	for _, child := range node.Content {
		p.duplicates(child)
	}
}

// nameOf is a key as it is in JSON: yes, on and true are one.
func nameOf(key *yaml3.Node) string {
	var value any
	if key.Kind != yaml3.ScalarNode || key.Style != 0 || yaml2.Unmarshal([]byte(key.Value), &value) != nil || value == nil {
		return key.Value
	}
	return fmt.Sprint(value)
}

// shape finds fields that there are not, and values of another type than their field.
func (p *problems) shape(doc *document) {
	p.lines[""] = doc.node.Line
	if doc.value == nil {
		p.add("", "it is empty: an add-on has at least a name, a namespace, and helm or git")
		return
	}
	p.check("", doc.node, doc.value, reflect.TypeFor[content]())
}

// check compares value, which node says, with the type that the field has. Null is like no
// value. As types end, so does this, whatever the aliases lead to.
func (p *problems) check(field string, node *yaml3.Node, value any, t reflect.Type) {
	if value == nil {
		return
	}
	is := func(ok bool, want string) {
		if !ok {
			p.add(field, "%s", strings.TrimPrefix(field+" ", " ")+want)
		}
	}
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		_, ok := value.(map[string]any)
		is(ok, "must be a map: write the values as YAML below it, not as a text")
	case t.Kind() == reflect.Pointer:
		p.check(field, node, value, t.Elem())
	case t.Kind() == reflect.Struct:
		object, ok := value.(map[string]any)
		is(ok, "must be a map of fields")
		p.checkFields(field, node, object, t)
	case t.Kind() == reflect.Slice:
		list, ok := value.([]any)
		is(ok, "must be a list")
		p.checkItems(field, node, list, t.Elem())
	case t.Kind() == reflect.String:
		_, ok := value.(string)
		is(ok, "must be text: put it in quotes")
	case t.Kind() == reflect.Bool:
		_, ok := value.(bool)
		is(ok, "must be true or false")
	default:
		n, _ := value.(json.Number)
		_, err := strconv.ParseInt(n.String(), 10, t.Bits())
		is(err == nil, "must be a whole number")
	}
}

func (p *problems) checkFields(field string, node *yaml3.Node, object map[string]any, t reflect.Type) {
	known := fieldsOf(t)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		key, child := entry(node, name)
		path := strings.TrimPrefix(field+"."+name, ".")
		p.lines[path] = key.Line
		of, ok := known[name]
		why, no := refused[path]
		switch {
		case no:
			p.add(path, "a definition has no %s: %s", path, why)
		case !ok:
			p.add(path, "unknown field %q", path)
		default:
			p.check(path, child, object[name], of)
		}
	}
}

func (p *problems) checkItems(field string, node *yaml3.Node, list []any, t reflect.Type) {
	for i, value := range list {
		path, child := fmt.Sprintf("%s[%d]", field, i), node
		if node := target(node); i < len(node.Content) {
			child = node.Content[i]
		}
		p.lines[path] = child.Line
		p.check(path, child, value, t)
	}
}

// entry is the key and the value at name in a map, or the map itself if it has them from another
// by a merge.
func entry(node *yaml3.Node, name string) (key, value *yaml3.Node) {
	in := target(node)
	if in.Kind == yaml3.MappingNode {
		for i := 0; i+1 < len(in.Content); i += 2 {
			if nameOf(in.Content[i]) == name {
				return in.Content[i], in.Content[i+1]
			}
		}
	}
	return node, node
}

func target(node *yaml3.Node) *yaml3.Node {
	if node.Kind == yaml3.AliasNode {
		return node.Alias
	}
	return node
}

// fieldsOf are the fields of a struct by their names in JSON, those of the struct itself over
// those of one in it.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous {
			maps.Copy(fields, fieldsOf(f.Type))
		}
	}
	for i := range t.NumField() {
		if f := t.Field(i); !f.Anonymous {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			fields[name] = f.Type
		}
	}
	return fields
}
