package definition_test

import (
	"strings"
	"testing"

	"example.com/fairlead/api/addons/definition"
)

func TestFilesThatAreNoDefinitionAreRefused(t *testing.T) {
	for name, test := range map[string]struct{ text, says string }{
		"nothing":                       {text: "", says: "web.yaml: it is empty"},
		"comments alone":                {text: "# later\n", says: "it is empty"},
		"null":                          {text: "---\n~\n", says: "it is empty"},
		"a text":                        {text: "web", says: "web.yaml:1: must be a map of fields"},
		"no YAML":                       {text: "name: [", says: "web.yaml: yaml: line 1"},
		"two documents":                 {text: umami + "---\n" + longhorn, says: "a second document begins in line 7"},
		"a file that is too large":      {text: "#" + strings.Repeat("a", 1<<20), says: "larger than 1 MiB"},
		"a field twice":                 {text: base + "name: web\n", says: `web.yaml:3: "name" is set already in line 1`},
		"a field of a field twice":      {text: base + "helm:\n  chart: a\n  repo: b\n  chart: c\n", says: `web.yaml:6: "chart" is set already in line 4`},
		"a value twice":                 {text: base + chart + "values:\n  a: 1\n  b: 2\n  a: 3\n", says: `web.yaml:7: "a" is set already in line 5`},
		"a value twice, in other words": {text: base + chart + "values:\n  yes: 1\n  true: 2\n", says: `web.yaml:6: "true" is set already in line 5`},
		"a field in other letters":      {text: base + chart + "Prune: true\n", says: `web.yaml:4: unknown field "Prune"`},
		"an Addon object":               {text: "apiVersion: rendimiento.ai/v1alpha1\n" + base + chart, says: `web.yaml:1: unknown field "apiVersion"`},
		"the source of an Addon":        {text: base + "source: {git: {path: web}}\n", says: "web.yaml:3: a definition has no source: write its helm or git without it"},
		"an approval":                   {text: base + chart + "approve: 0123456789abcdef\n", says: "web.yaml:4: a definition has no approve"},
		"a sync request":                {text: base + chart + "syncRequest: 1\n", says: "web.yaml:4: a definition has no syncRequest"},
		"a merged field":                {text: base + "helm: &h {repo: 'https://charts.example.com', chart: web, version: 1.0.0}\ngit: {<<: *h, path: a}\n", says: `unknown field "git.chart"`},
		"values as a text":              {text: base + chart + "values: |\n  a: 1\n", says: "web.yaml:4: values must be a map: write the values as YAML below it, not as a text"},
		"a map for a text":              {text: base + chart + "title: {en: Web}\n", says: "web.yaml:4: title must be text"},
		"a text for a map":              {text: base + "helm: web\n", says: "web.yaml:3: helm must be a map of fields"},
		"a map for a list":              {text: base + chart + "dependsOn: {name: a}\n", says: "web.yaml:4: dependsOn must be a list"},
		"a fraction of a second":        {text: base + chart + "hookTimeout: 1.5\n", says: "web.yaml:4: hookTimeout must be a whole number"},
		"more seconds than there are":   {text: base + chart + "hookTimeout: 10000000000\n", says: "web.yaml:4: hookTimeout must be a whole number"},
		"an alias of itself":            {text: base + chart + "values: &a {b: *a}\n", says: "web.yaml: "},
		"no name":                       {text: "namespace: web\n" + chart, says: "web.yaml:1: name is missing"},
		"a name with a dot":             {text: "name: web.example\nnamespace: web\n" + chart, says: `web.yaml:1: name is "web.example": it must be a DNS label`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := definition.Parse("web.yaml", []byte(test.text)); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want an error that says %q", err, test.says)
			}
		})
	}
}
