package source

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"example.com/fairlead/activities/addon/render"
)

// shortest is how long a value is, at least, that is masked: shorter ones are half of all
// words.
const shortest = 4

// secretsIn are what is to be masked of a text of values: its texts and numbers, as templates
// print them, and its lines, which errors quote.
func secretsIn(text []byte) [][]byte {
	var all [][]byte
	add := func(s string) {
		if len(s) >= shortest {
			all = append(all, []byte(s))
		}
	}
	if values, err := render.Values(text); err == nil {
		leaves(values, add)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); !strings.HasSuffix(line, ":") { // else it is a key alone
			add(line)
		}
	}
	return all
}

// leaves calls add with the texts and numbers in v.
func leaves(v any, add func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, child := range v {
			leaves(child, add)
		}
	case []any:
		for _, child := range v {
			leaves(child, add)
		}
	case string:
		add(v)
	case float64:
		add(strconv.FormatFloat(v, 'f', -1, 64))
	case int64:
		add(strconv.FormatInt(v, 10))
		add(fmt.Sprint(float64(v))) // for charts that take no integers
	case json.Number:
		add(v.String())
	}
}
