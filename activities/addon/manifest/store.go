package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"
)

// storedSet is a Set as it is kept. Its fields are read for as long as sets are kept.
type storedSet struct {
	Objects []storedObject `json:"objects,omitempty"`
	Hooks   []storedHook   `json:"hooks,omitempty"`
}

type storedObject struct {
	Source string         `json:"source,omitempty"`
	CRD    bool           `json:"crd,omitempty"`
	Object map[string]any `json:"object"`
}

type storedHook struct {
	storedObject

	Events         []Event        `json:"events"`
	Weight         int            `json:"weight,omitempty"`
	DeletePolicies []DeletePolicy `json:"deletePolicies"`
	LogPolicies    []LogPolicy    `json:"logPolicies,omitempty"`
}

// Encode writes a set as JSON, the same bytes for equal sets.
func Encode(set Set) ([]byte, error) {
	var stored storedSet
	for _, o := range set.Objects {
		stored.Objects = append(stored.Objects, store(o))
	}
	for _, h := range set.Hooks {
		stored.Hooks = append(stored.Hooks, storedHook{
			storedObject: store(h.Object), Events: h.Events, Weight: h.Weight,
			DeletePolicies: h.DeletePolicies, LogPolicies: h.LogPolicies,
		})
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(stored); err != nil {
		return nil, fmt.Errorf("encode a rendered set: %w", err)
	}
	return out.Bytes(), nil
}

// Decode reads what Encode wrote. Integers come back as int64.
func Decode(data []byte) (Set, error) {
	var stored storedSet
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &stored); err != nil {
		return Set{}, fmt.Errorf("decode a rendered set: %w", err)
	}
	var set Set
	for i, s := range stored.Objects {
		o, err := s.restore()
		if err != nil {
			return Set{}, fmt.Errorf("decode object %d of a rendered set: %w", i+1, err)
		}
		set.Objects = append(set.Objects, o)
	}
	for i, s := range stored.Hooks {
		o, err := s.restore()
		if err != nil {
			return Set{}, fmt.Errorf("decode hook %d of a rendered set: %w", i+1, err)
		}
		set.Hooks = append(set.Hooks, Hook{
			Object: o, Events: s.Events, Weight: s.Weight, DeletePolicies: s.DeletePolicies, LogPolicies: s.LogPolicies,
		})
	}
	return set, nil
}

func store(o Object) storedObject {
	return storedObject{Source: o.Source, CRD: o.CRD, Object: o.Object}
}

// restore is the object that s was made from. What lost its object is not taken for an
// empty one, which would be pruned.
func (s storedObject) restore() (Object, error) {
	if err := wellFormed(s.Object); err != nil {
		return Object{}, err
	}
	return Object{Unstructured: &unstructured.Unstructured{Object: s.Object}, Source: s.Source, CRD: s.CRD}, nil
}
