package provider

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// reservedNames would make the id of a provider's Schedule that of another sweep.
var reservedNames = []string{"objects", "addons"}

// entry is one provider as the providers file describes it.
type entry struct {
	Name string
	Type string
	// Settings is the block named after the type, as JSON; empty when left out.
	Settings json.RawMessage
}

// config is a hash of what a provider is built from.
func (e entry) config() string {
	sum := sha256.Sum256(append([]byte(e.Type+"\n"), e.Settings...))
	return hex.EncodeToString(sum[:8])
}

// same says that nothing changed which a provider is built from.
func (e entry) same(other entry) bool {
	return e.Type == other.Type && bytes.Equal(e.Settings, other.Settings)
}

// parseFile reads a providers file. An unknown field is an error: a misspelt
// setting must not be taken for its default.
func parseFile(data []byte, types []string) ([]entry, error) {
	asJSON, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, err
	}
	var file struct {
		// Providers is a pointer because a file cut to nothing is not an empty list.
		Providers *[]map[string]json.RawMessage `json:"providers"`
	}
	if err := unmarshalStrict(asJSON, &file); err != nil {
		return nil, err
	}
	if file.Providers == nil {
		return nil, errors.New(`no list "providers" (write "providers: []" for none)`)
	}
	var entries []entry
	seen := map[string]bool{}
	for i, fields := range *file.Providers {
		e, err := parseEntry(fields, types)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", label(i, fields), err)
		}
		if seen[e.Name] {
			return nil, fmt.Errorf("%s: the name is used twice: each provider needs its own", label(i, fields))
		}
		seen[e.Name] = true
		entries = append(entries, e)
	}
	return entries, nil
}

func parseEntry(fields map[string]json.RawMessage, types []string) (entry, error) {
	var e entry
	if err := text(fields, "name", &e.Name); err != nil {
		return e, err
	}
	if problems := validation.IsDNS1123Label(e.Name); len(problems) > 0 {
		return e, fmt.Errorf("name %q: %s", e.Name, strings.Join(problems, "; "))
	}
	if slices.Contains(reservedNames, e.Name) {
		return e, fmt.Errorf("name %q is reserved for a sweep: choose another one", e.Name)
	}
	if err := text(fields, "type", &e.Type); err != nil {
		return e, err
	}
	if !slices.Contains(types, e.Type) {
		return e, fmt.Errorf("unknown type %q: the types are %s", e.Type, strings.Join(types, ", "))
	}
	allowed := []string{"name", "type", e.Type}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(allowed, field) {
			return e, fmt.Errorf("unknown field %q: a provider of type %s has the fields %s",
				field, e.Type, strings.Join(allowed, ", "))
		}
	}
	e.Settings = fields[e.Type]
	return e, nil
}

func text(fields map[string]json.RawMessage, field string, into *string) error {
	raw, ok := fields[field]
	if !ok {
		return fmt.Errorf("%s is missing", field)
	}
	if err := json.Unmarshal(raw, into); err != nil || *into == "" {
		return fmt.Errorf("%s must be a text, not %s", field, raw)
	}
	return nil
}

// label names an entry in an error, also one without a usable name.
func label(i int, fields map[string]json.RawMessage) string {
	if name, ok := fields["name"]; ok {
		return fmt.Sprintf("provider %s (entry %d)", name, i+1)
	}
	return fmt.Sprintf("provider entry %d", i+1)
}

// DecodeSettings reads the settings block of a provider. Unknown fields are
// errors; a block that was left out sets nothing.
func DecodeSettings(settings json.RawMessage, into any) error {
	if len(settings) == 0 {
		return nil
	}
	return unmarshalStrict(settings, into)
}

func unmarshalStrict(data []byte, into any) error {
	strict, err := kjson.UnmarshalStrict(data, into)
	if err != nil {
		return err
	}
	return errors.Join(strict...)
}
