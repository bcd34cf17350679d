// Package definition reads the files that define add-ons, as they are kept in git.
package definition

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addons "example.com/fairlead/api/addons/v1alpha1"
)

// Definition is a file that defines an add-on.
type Definition struct {
	// Name of the add-on.
	Name string
	// Spec is that of its Addon object. Source.Git.Repo is empty for a folder of the
	// repository that has the file: an Addon needs it, so whoever knows it sets it.
	Spec addons.AddonSpec
}

// Addon is the object that is defined. It shares nothing with d.
func (d *Definition) Addon() *addons.Addon {
	return &addons.Addon{
		TypeMeta:   metav1.TypeMeta{APIVersion: addons.GroupVersion.String(), Kind: "Addon"},
		ObjectMeta: metav1.ObjectMeta{Name: d.Name},
		Spec:       *d.Spec.DeepCopy(),
	}
}

// content is what may be in a file: every field of the spec, but for its source, which is
// helm or git here, its values, which are a map, and what is refused.
type content struct {
	Name   string             `json:"name"`
	Helm   *addons.HelmSource `json:"helm"`
	Git    *addons.GitSource  `json:"git"`
	Values json.RawMessage    `json:"values"`

	addons.AddonSpec `json:",inline"`
}

// refused are the fields of a spec that no file has, and what to do instead.
var refused = map[string]string{
	"source":      "write its helm or git without it",
	"approve":     "a plan is approved on the Addon object, not in git",
	"syncRequest": "a sync is requested on the Addon object, not in git",
}

// Parse reads the definition in data, which file is named in errors: they tell all that is
// wrong, each with its line. What it returns, the API server takes as an Addon.
func Parse(file string, data []byte) (*Definition, error) {
	doc, err := read(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	found := problems{file: file, lines: map[string]int{}}
	found.duplicates(doc.node)
	found.shape(doc)
	if err := found.err(); err != nil {
		return nil, err
	}
	var c content
	if err := json.Unmarshal(doc.json, &c); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	c.Source = addons.AddonSource{Helm: c.Helm, Git: c.Git}
	if c.AddonSpec.Values, err = yamlOf(c.Values); err != nil {
		return nil, fmt.Errorf("%s: values: %w", file, err)
	}
	d := &Definition{Name: c.Name, Spec: c.AddonSpec}
	found.rules(d)
	return d, found.err()
}
