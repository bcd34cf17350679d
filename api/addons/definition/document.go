package definition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	yaml2 "go.yaml.in/yaml/v2"
	yaml3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// maxBytes bounds a file: an object that is larger cannot be stored.
const maxBytes = 1 << 20

// document is a file in two forms: its values as Helm and kubectl read them, with YAML 1.1
// words such as yes, and its nodes, which know their lines.
type document struct {
	json  []byte
	value any
	node  *yaml3.Node
}

func read(data []byte) (*document, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("it is larger than %d MiB", maxBytes>>20)
	}
	node, err := onlyNode(data)
	if err != nil {
		return nil, err
	}
	doc := &document{node: node}
	if doc.json, err = yaml.YAMLToJSON(data); err != nil {
		return nil, err
	}
	doc.value, err = decode(doc.json)
	return doc, err
}

// onlyNode is the content of the file's document.
func onlyNode(data []byte) (*yaml3.Node, error) {
	decoder := yaml3.NewDecoder(bytes.NewReader(data))
	var first, next yaml3.Node
	switch err := decoder.Decode(&first); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("it is empty: an add-on has at least a name, a namespace, and helm or git")
	case err != nil:
		return nil, err
	}
	switch err := decoder.Decode(&next); {
	case errors.Is(err, io.EOF):
		return first.Content[0], nil
	case err != nil:
		return nil, err
	}
	return nil, fmt.Errorf("a second document begins in line %d: write each add-on into a file of its own", next.Line)
}

// decode reads JSON with numbers as they are.
func decode(data []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	return value, err
}

// yamlOf is a map as YAML text, its keys in order, so that two files that say the same make
// the same object. It is empty if the map is.
func yamlOf(raw json.RawMessage) (string, error) {
	if len(raw) == 0 {
		return "", nil
	}
	value, err := decode(raw)
	if err != nil {
		return "", err
	}
	values, _ := value.(map[string]any)
	if len(values) == 0 {
		return "", nil
	}
	text, err := yaml2.Marshal(native(values))
	return string(text), err
}

// native is v with numbers that YAML has.
func native(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			v[key] = native(value)
		}
	case []any:
		for i, value := range v {
			v[i] = native(value)
		}
	case json.Number:
		return number(v)
	}
	return v
}

func number(n json.Number) any {
	if i, err := strconv.ParseInt(n.String(), 10, 64); err == nil {
		return i
	}
	if u, err := strconv.ParseUint(n.String(), 10, 64); err == nil {
		return u
	}
	f, _ := n.Float64() // it was one
	return f
}
