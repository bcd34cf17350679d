package definition

import (
	"fmt"
	"regexp"

	addons "example.com/fairlead/api/addons/v1alpha1"
)

const (
	maxValuesFrom   = 16
	maxDifferences  = 64
	maxPointers     = 32
	maxDependencies = 32
)

var pointerForm = regexp.MustCompile(`^(/([^/~]|~[01])*)+$`)

func (p *problems) valuesFrom(sources []addons.ValuesSource) {
	p.atMostItems("valuesFrom", len(sources), maxValuesFrom)
	for i, s := range sources {
		field := fmt.Sprintf("valuesFrom[%d]", i)
		if (s.SecretRef == nil) == (s.ConfigMapRef == nil) {
			p.add(field, "set exactly one of secretRef and configMapRef in each of valuesFrom")
			continue
		}
		ref, name := s.SecretRef, ".secretRef"
		if ref == nil {
			ref, name = s.ConfigMapRef, ".configMapRef"
		}
		p.within(field+name+".name", ref.Name, maxName)
		p.atMost(field+name+".key", ref.Key, maxName)
	}
}

func (p *problems) ignoreDifferences(all []addons.IgnoredDifference) {
	p.atMostItems("ignoreDifferences", len(all), maxDifferences)
	for i, d := range all {
		field := fmt.Sprintf("ignoreDifferences[%d]", i)
		p.atMost(field+".group", d.Group, maxName)
		p.within(field+".kind", d.Kind, maxLabel)
		p.atMost(field+".namespace", d.Namespace, maxLabel)
		p.atMost(field+".name", d.Name, maxName)
		if len(d.JSONPointers) == 0 {
			p.add(field+".jsonPointers", "%s.jsonPointers is missing", field)
		}
		p.atMostItems(field+".jsonPointers", len(d.JSONPointers), maxPointers)
		for j, pointer := range d.JSONPointers {
			p.matches(fmt.Sprintf("%s.jsonPointers[%d]", field, j), pointer, maxPath, pointerForm, "write a JSON pointer such as /spec/replicas")
		}
	}
}

func (p *problems) dependsOn(name string, all []addons.Dependency) {
	p.atMostItems("dependsOn", len(all), maxDependencies)
	seen := map[string]bool{}
	for i, d := range all {
		field := fmt.Sprintf("dependsOn[%d].name", i)
		switch {
		case !p.within(field, d.Name, maxLabel):
		case d.Name == name:
			p.add(field, "an add-on cannot depend on itself: take its own name off dependsOn")
		case seen[d.Name]:
			p.add(field, "dependsOn has %s twice", quoted(d.Name))
		}
		seen[d.Name] = true
	}
}

func (p *problems) atMostItems(field string, n, most int) {
	if n > most {
		p.add(field, "%s has %d items: %d at most", field, n, most)
	}
}
