package child

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// exact is a map of values, or an object, that comes out of JSON with the numbers it went in
// with: templates tell 1 as a float from 1 as an integer.
type exact map[string]any

// MarshalJSON gives every float an exponent.
func (e exact) MarshalJSON() ([]byte, error) {
	return json.Marshal(written(map[string]any(e)))
}

// UnmarshalJSON makes floats of the numbers with an exponent or a point, and integers of the
// others.
func (e *exact) UnmarshalJSON(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return err
	}
	v, err := read(v)
	if err != nil {
		return err
	}
	m, _ := v.(map[string]any) // null is nil
	*e = m
	return nil
}

func written(v any) any {
	switch in := v.(type) {
	case float64:
		return json.Number(strconv.FormatFloat(in, 'e', -1, 64))
	case map[string]any:
		if in == nil {
			return nil
		}
		out := make(map[string]any, len(in))
		for k, v := range in {
			out[k] = written(v)
		}
		return out
	case []any:
		out := make([]any, len(in))
		for i, v := range in {
			out[i] = written(v)
		}
		return out
	}
	return v
}

// read changes v in place.
func read(v any) (any, error) {
	var err error
	switch in := v.(type) {
	case json.Number:
		return number(in)
	case map[string]any:
		for k, v := range in {
			if in[k], err = read(v); err != nil {
				return nil, err
			}
		}
	case []any:
		for i, v := range in {
			if in[i], err = read(v); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

func number(n json.Number) (any, error) {
	if strings.ContainsAny(n.String(), ".eE") {
		f, err := n.Float64()
		if err != nil {
			return nil, fmt.Errorf("read a number of the values: %w", err)
		}
		return f, nil
	}
	if i, err := n.Int64(); err == nil {
		return i, nil
	}
	return n, nil // beyond 64 bits: its digits
}
