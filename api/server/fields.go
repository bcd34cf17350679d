package server

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"
)

// misspelt adds to what a strict decoder found in a v which fields there are.
func misspelt(found []error, v any) error {
	told := make([]error, len(found))
	for i, err := range found {
		told[i] = err
		var field kjson.FieldError
		if errors.As(err, &field) && strings.HasPrefix(err.Error(), "unknown field") {
			told[i] = fmt.Errorf("%w: the fields are %s", err, strings.Join(fieldsBeside(reflect.TypeOf(v), field.FieldPath()), ", "))
		}
	}
	return errors.Join(told...)
}

// fieldsBeside are the fields of the object in t whose field has this path, such as
// tokens[0].scope.
func fieldsBeside(t reflect.Type, path string) []string {
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		name, _, _ = strings.Cut(name, "[")
		if field, ok := fieldsOf(t)[name]; ok {
			t = field
		}
	}
	known := make([]string, 0, 8)
	for name := range fieldsOf(t) {
		known = append(known, name)
	}
	slices.Sort(known)
	return known
}

// fieldsOf are the types of the fields of a struct, or of what t points to or is a list of, by
// their names in JSON.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	fields := map[string]reflect.Type{}
	if t.Kind() != reflect.Struct {
		return fields
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields[name] = f.Type
	}
	return fields
}
