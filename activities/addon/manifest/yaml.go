package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v2"
	kjson "sigs.k8s.io/json"
)

// maxValues bounds what the aliases of a file can grow to.
const maxValues = 1_000_000

// decode reads a document to the values that sigs.k8s.io/yaml and then
// k8s.io/apimachinery give for it, nil if it has no content. That library reads with
// yaml/v2 as well, but loses the lines of errors, keys that are equal only as text, and
// what follows a mark of the document's end.
func decode(doc document, budget *int) (any, error) {
	value, err := decodeYAML(doc.text)
	if err != nil {
		if value, ok := decodeJSON(doc.text); ok {
			return value, nil
		}
		return nil, atLine(doc, err)
	}
	value, err = jsonable(value, budget)
	if err != nil {
		return nil, atLine(doc, err)
	}
	return value, nil
}

// decodeYAML reads the only document of text.
func decodeYAML(text []byte) (any, error) {
	value, err := decodeOne(text, true)
	if typed := (*yaml.TypeError)(nil); errors.As(err, &typed) {
		// Strict decoding also refuses a key that overrides a merged one.
		if sure, dup := duplicateKey(document{text: text}); sure && dup == nil {
			return decodeOne(text, false)
		}
	}
	return value, err
}

func decodeOne(text []byte, strict bool) (any, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.SetStrict(strict)
	var value, more any
	if err := decoder.Decode(&value); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch err := decoder.Decode(&more); {
	case errors.Is(err, io.EOF):
		return value, nil
	case err != nil:
		return nil, err
	}
	return nil, errors.New("something follows the end of the document: start the next one with ---")
}

// decodeJSON reads JSON that is no YAML, as tabs between values or surrogate pairs.
func decodeJSON(text []byte) (any, bool) {
	var value any
	strict, err := kjson.UnmarshalStrict(text, &value)
	return value, err == nil && len(strict) == 0
}

// atLine is the error of a document with the lines of its file.
func atLine(doc document, err error) error {
	if _, dup := duplicateKey(doc); dup != nil {
		return dup
	}
	padded := append(bytes.Repeat([]byte("\n"), doc.line-1), doc.text...)
	if _, moved := decodeYAML(padded); moved != nil {
		return moved
	}
	return err
}

// jsonable is a value of yaml/v2 as it is after a way through JSON.
func jsonable(value any, budget *int) (any, error) {
	if *budget--; *budget < 0 {
		return nil, fmt.Errorf("the file has more than %d values, its aliases counted as what they stand for", maxValues)
	}
	switch value := value.(type) {
	case map[any]any:
		return jsonableMap(value, budget)
	case []any:
		list := make([]any, len(value))
		for i, item := range value {
			var err error
			if list[i], err = jsonable(item, budget); err != nil {
				return nil, err
			}
		}
		return list, nil
	case nil, bool:
		return value, nil
	case int:
		return int64(value), nil
	case string:
		if utf8.ValidString(value) {
			return value, nil
		}
	}
	return throughJSON(value)
}

func jsonableMap(value map[any]any, budget *int) (any, error) {
	object := make(map[string]any, len(value))
	for k, v := range value {
		key, err := keyText(k)
		if err != nil {
			return nil, err
		}
		if _, taken := object[key]; taken {
			return nil, fmt.Errorf("key %q is set twice in one map", key)
		}
		if object[key], err = jsonable(v, budget); err != nil {
			return nil, err
		}
	}
	return object, nil
}

// keyText is a key as sigs.k8s.io/yaml writes it.
func keyText(key any) (string, error) {
	switch key := key.(type) {
	case string:
		return key, nil
	case int:
		return strconv.Itoa(key), nil
	case bool:
		return strconv.FormatBool(key), nil
	case float64:
		data, err := yaml.Marshal(float32(key))
		return strings.TrimSpace(string(data)), err
	}
	return "", fmt.Errorf("a key is %v (%T): put it in quotes", key, key)
}

// throughJSON is for what JSON changes: floats without a fraction, integers beyond
// int64, timestamps that are tagged, binary.
func throughJSON(value any) (any, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("a value that JSON does not have: %w", err)
	}
	var changed any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &changed); err != nil {
		return nil, fmt.Errorf("a value that JSON does not have: %w", err)
	}
	return changed, nil
}
