package manifest

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// wellFormed is an error if object lacks what makes an object one, or has a value of
// another type there. The accessors of unstructured take such values for missing.
func wellFormed(object map[string]any) error {
	apiVersion, err := text(object, "apiVersion")
	if err != nil {
		return err
	}
	if _, err := schema.ParseGroupVersion(apiVersion); err != nil {
		return fmt.Errorf("its apiVersion: %w", err)
	}
	kind, err := text(object, "kind")
	if err != nil {
		return err
	}
	for _, field := range []struct{ name, value string }{{"apiVersion", apiVersion}, {"kind", kind}} {
		if field.value == "" {
			return fmt.Errorf("it has no %s", field.name)
		}
	}
	if err := wellNamed(object["metadata"]); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	return nil
}

func wellNamed(value any) error {
	metadata, ok := value.(map[string]any)
	if !ok && value != nil {
		return fmt.Errorf("its metadata is %s", describe(value))
	}
	name, err := text(metadata, "name")
	if err != nil {
		return err
	}
	generated, err := text(metadata, "generateName")
	if err != nil {
		return err
	}
	if name == "" && generated == "" {
		return errors.New("it has no metadata.name")
	}
	if _, err := text(metadata, "namespace"); err != nil {
		return err
	}
	for _, field := range []string{"labels", "annotations"} {
		if err := texts(metadata, field); err != nil {
			return err
		}
	}
	return nil
}

// text is a field of object that holds a string, empty if it is missing.
func text(object map[string]any, field string) (string, error) {
	value := object[field]
	s, ok := value.(string)
	if !ok && value != nil {
		return "", fmt.Errorf("its %s is %s: put it in quotes", field, describe(value))
	}
	return s, nil
}

// texts is an error if a field of object is anything but strings by name. A null is an
// empty string for the API server.
func texts(object map[string]any, field string) error {
	value := object[field]
	entries, ok := value.(map[string]any)
	if !ok && value != nil {
		return fmt.Errorf("its %s are %s", field, describe(value))
	}
	for name := range entries {
		if _, err := text(entries, name); err != nil {
			return fmt.Errorf("in its %s, %w", field, err)
		}
	}
	return nil
}

// describe says what a value is, for errors. What a string says may be secret.
func describe(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return fmt.Sprintf("the boolean %t", value)
	case int64, float64:
		return fmt.Sprintf("the number %v", value)
	case []any:
		return "a list"
	default:
		return "an object"
	}
}
