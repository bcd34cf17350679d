package folder

import (
	"path"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/mask"
	"example.com/fairlead/internal/text"
)

// maxErrorText bounds the errors of kustomize, which may quote all that it has.
const maxErrorText = 2_000

// shown is err without the secrets that the caller knows and those in what t has read.
func shown(err error, t *tree, known [][]byte) error {
	if err == nil {
		return nil
	}
	all := known[:len(known):len(known)]
	for name, data := range t.read {
		all = append(all, t.secretsIn(name, data)...)
	}
	return mask.New(all).Error(err, func(s string) string { return text.Head(s, maxErrorText, "…") })
}

// secretsIn are the values of the Secrets in a file, and of those that it has made.
func (t *tree) secretsIn(name string, data []byte) [][]byte {
	if !isYAML(name) && !isKustomization(path.Base(name)) && !patched.Match(data) {
		return nil
	}
	documents, err := manifest.Values(name, data)
	var all [][]byte
	if err != nil && patched.Match(data) {
		all = guessed(data)
	}
	for _, document := range documents { // those before the one that cannot be read
		all = append(all, t.secretsOf(document, path.Dir(name))...)
	}
	return all
}

// secretsOf are those in a value of a file in dir: of Secrets, wherever they are, and of
// generators of Secrets.
func (t *tree) secretsOf(value any, dir string) [][]byte {
	var all [][]byte
	switch value := value.(type) {
	case map[string]any:
		all = append(all, t.secretsOfMap(value, dir)...)
	case []any:
		for _, item := range value {
			all = append(all, t.secretsOf(item, dir)...)
		}
	case string:
		if patched.MatchString(value) {
			all = append(all, t.secretsIn(path.Join(dir, "patch.yaml"), []byte(value))...)
		}
	}
	return all
}

func (t *tree) secretsOfMap(fields map[string]any, dir string) [][]byte {
	var all [][]byte
	switch fields["kind"] {
	case "Secret":
		all = append(all, valuesOf(fields)...)
	case "SecretGenerator": // in the configuration of a plugin
		all = append(all, t.generated(fields, dir)...)
	}
	if target, _ := fields["target"].(map[string]any); target["kind"] == "Secret" {
		all = append(all, t.patchedIn(fields, dir)...)
	}
	for name, content := range fields {
		if generators, ok := content.([]any); ok && strings.EqualFold(name, "secretGenerator") {
			for _, generator := range generators {
				all = append(all, t.generated(generator, dir)...)
			}
		}
		all = append(all, t.secretsOf(content, dir)...)
	}
	return all
}

// patched is in a text that is a patch of a Secret, or a Secret.
var patched = regexp.MustCompile(`(?m)["']?kind["']?:\s*["']?Secret\b`)

func valuesOf(secret map[string]any) [][]byte {
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "data": secret["data"], "stringData": secret["stringData"],
	}}
	return mask.SecretsOf(o)
}

// generated are the values that a generator of Secrets takes from its literals and files.
func (t *tree) generated(generator any, dir string) [][]byte {
	fields, _ := generator.(map[string]any)
	var all [][]byte
	for _, literal := range texts(fields["literals"]) {
		all = append(all, assigned(literal))
	}
	for _, file := range texts(fields["files"]) {
		if _, name, keyed := strings.Cut(file, "="); keyed {
			file = name
		}
		all = append(all, t.read[path.Join(dir, file)])
	}
	for _, field := range []string{"env", "envs"} {
		for _, file := range texts(fields[field]) {
			for line := range strings.Lines(string(t.read[path.Join(dir, file)])) {
				all = append(all, assigned(line))
			}
		}
	}
	return all
}

// assigned is what stands behind the first =, without quotes, or all if there is none.
func assigned(line string) []byte {
	line = strings.TrimSpace(line)
	_, value, ok := strings.Cut(line, "=")
	if !ok {
		value = line
	}
	return []byte(strings.Trim(value, `'"`))
}
