package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// exactFrom is the first integer that Helm prints in a form that is no integer: 1e+06.
const exactFrom = 1_000_000

// errTooLarge does not quote the number, which may be secret.
var errTooLarge = errors.New("it has a number that no float holds: put it in quotes")

// Values parses values with exact integers. Helm makes all numbers floats, so that a template
// prints 1000000 as 1e+06 and 2^53+1 as 9.007199254740992e+15. Here integers of 1,000,000 and more
// are integers; smaller ones stay floats, as charts expect them. A chart that can take
// no integer, because it formats it with %f or compares it with a float, gets floats after all.
// The error may quote the text.
func Values(text []byte) (map[string]any, error) {
	values := map[string]any{}
	useNumber := func(d *json.Decoder) *json.Decoder {
		d.UseNumber()
		return d
	}
	if err := yaml.Unmarshal(text, &values, useNumber); err != nil {
		return nil, fmt.Errorf("parse values: %w", err)
	}
	for k, v := range values {
		exact, err := exactly(v)
		if err != nil {
			return nil, fmt.Errorf("parse values: %s: %w", k, err)
		}
		values[k] = exact
	}
	return values, nil
}

// HelmValues parses values as Helm does with its flag --values: all numbers are floats.
func HelmValues(text []byte) (map[string]any, error) {
	values := map[string]any{}
	if err := yaml.Unmarshal(text, &values); err != nil {
		return nil, fmt.Errorf("parse values: %w", err)
	}
	return values, nil
}

// Merge puts over on top of base, as Helm does with files of values. Neither is changed.
func Merge(base, over map[string]any) map[string]any {
	merged := make(map[string]any, len(base)+len(over))
	for k, v := range base {
		merged[k] = v
	}
	for k, v := range over {
		above, isMap := v.(map[string]any)
		below, wasMap := merged[k].(map[string]any)
		if isMap && wasMap {
			v = Merge(below, above)
		}
		merged[k] = v
	}
	return merged
}

// exactly is v with the numbers that templates get.
func exactly(v any) (any, error) {
	n, ok := v.(json.Number)
	if !ok {
		return each(v, exactly)
	}
	i, err := strconv.ParseInt(n.String(), 10, 64)
	if err == nil && (i >= exactFrom || i <= -exactFrom) {
		return i, nil
	}
	if err != nil && !strings.ContainsAny(n.String(), ".eE") {
		return n, nil // beyond 64 bits: its digits
	}
	return n.Float64()
}

// asFloats is v with the numbers that Helm would have made of it.
func asFloats(v map[string]any) (map[string]any, error) {
	floats, err := each(v, toFloat)
	if err != nil {
		return nil, fmt.Errorf("make floats of the numbers in the values: %w", err)
	}
	m, _ := floats.(map[string]any) // as v is one
	return m, nil
}

func toFloat(v any) (any, error) {
	switch n := v.(type) {
	case int64:
		return float64(n), nil
	case json.Number:
		float, err := n.Float64()
		if err != nil {
			return nil, errTooLarge
		}
		return float, nil
	}
	return each(v, toFloat)
}

// each is v with f of what is in it, if it is a map or a list.
func each(v any, f func(any) (any, error)) (any, error) {
	var err error
	switch in := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(in))
		for k, v := range in {
			if out[k], err = f(v); err != nil {
				return nil, err
			}
		}
		return out, nil
	case []any:
		out := make([]any, len(in))
		for i, v := range in {
			if out[i], err = f(v); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}
