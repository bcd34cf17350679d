package manifest

import (
	"fmt"

	yaml2 "go.yaml.in/yaml/v2"
	"go.yaml.in/yaml/v3"
)

// duplicateKey is an error about the first key that is twice in a map of doc, or nil.
// It reads with yaml/v3, which knows the lines and has merges unresolved; sure is false
// if that cannot read doc.
func duplicateKey(doc document) (sure bool, duplicate error) {
	var root yaml.Node
	if err := yaml.Unmarshal(doc.text, &root); err != nil {
		return false, nil
	}
	return true, duplicateIn(&root, doc.line)
}

func duplicateIn(node *yaml.Node, firstLine int) error {
	if node.Kind == yaml.MappingNode {
		seen := map[string]int{}
		for i := 0; i < len(node.Content); i += 2 {
			key := node.Content[i]
			if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
				continue
			}
			name, line := nameOf(key), firstLine+key.Line-1
			if before, twice := seen[name]; twice {
				return fmt.Errorf("line %d: key %q is already set in line %d", line, name, before)
			}
			seen[name] = line
		}
	}
	for _, child := range node.Content {
		if err := duplicateIn(child, firstLine); err != nil {
			return err
		}
	}
	return nil
}

// nameOf is a key as decode reads it: yes, on and true are one.
func nameOf(key *yaml.Node) string {
	var value any
	if key.Style != 0 || yaml2.Unmarshal([]byte(key.Value), &value) != nil {
		return key.Value
	}
	if name, err := keyText(value); err == nil {
		return name
	}
	return key.Value
}
