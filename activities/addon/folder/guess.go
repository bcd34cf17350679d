package folder

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"example.com/fairlead/activities/addon/manifest"
)

// places are the fields of Secrets, and of patches of them, that hold no secret.
var places = []string{"apiVersion", "kind", "metadata", "name", "namespace", "type", "op", "path", "from"}

// patchedIn are the texts in a patch of Secrets, which may be a list of operations.
func (t *tree) patchedIn(patch map[string]any, dir string) [][]byte {
	inline, _ := patch["patch"].(string)
	file, _ := patch["path"].(string)
	var all [][]byte
	for _, data := range [][]byte{[]byte(inline), t.read[path.Join(dir, file)]} {
		documents, err := manifest.Values(file, data)
		if err != nil {
			all = append(all, guessed(data)...)
		}
		for _, document := range documents {
			all = append(all, leaves(document)...)
		}
	}
	return all
}

// leaves are the texts and numbers in what a patch sets, not those that say where.
func leaves(value any) [][]byte {
	var all [][]byte
	switch value := value.(type) {
	case map[string]any:
		for name, content := range value {
			if !slices.Contains(places, name) {
				all = append(all, leaves(content)...)
			}
		}
	case []any:
		for _, item := range value {
			all = append(all, leaves(item)...)
		}
	case nil, bool:
	default:
		all = append(all, fmt.Append(nil, value))
	}
	return all
}

// guessed are what may be secrets in a text that cannot be read: what stands behind the
// names of fields, and lines that have none.
func guessed(data []byte) [][]byte {
	var all [][]byte
	for line := range strings.Lines(string(data)) {
		all = append(all, behindName(line)...)
		for _, part := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("{}[],", r) }) {
			all = append(all, behindName(part)...)
		}
	}
	return all
}

// behindName is the value that a piece of YAML gives to a field, if it may be secret.
func behindName(text string) [][]byte {
	text = strings.TrimLeft(strings.TrimSpace(text), "- ")
	name, value, named := strings.Cut(text, ": ")
	switch {
	case !named && strings.HasSuffix(text, ":"):
		return nil
	case !named:
		value = text
	case slices.Contains(places, strings.Trim(name, `'"`)):
		return nil
	}
	value = strings.TrimSpace(value)
	if strings.HasPrefix(value, "!") { // a tag
		_, value, _ = strings.Cut(value, " ")
	}
	if value = strings.Trim(value, `'"`); len(value) < shortestGuess {
		return nil
	}
	return [][]byte{[]byte(value)}
}

// shortestGuess leaves out the marks of YAML.
const shortestGuess = 3
