package plan

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/types"

	"example.com/fairlead/activities/addon/manifest"
)

// fingerprint is what an item's hash covers. All of it goes through the keyed hash,
// not the values of Secrets only: a plain hash of a short one can be reversed.
type fingerprint struct {
	Object  string
	Action  Action
	UID     types.UID
	Desired map[string]any
	Changes []change
}

// itemHash covers the item's identity, action and UID, what is desired, and the live
// values of what would be changed. Of an unverified item, what would be changed is a
// guess, which does not count.
func (p Planner) itemHash(i Item, desired map[string]any, changes []change) string {
	f := fingerprint{Object: i.ID.String(), Action: i.Action, UID: i.UID, Desired: desired, Changes: changes}
	if i.Unverified != "" {
		f.Action, f.Changes = "", nil
	}
	return p.sum(f)
}

func (p Planner) hookHash(h manifest.Hook) string {
	return p.sum(struct {
		Object   string
		Events   []manifest.Event
		Weight   int
		Policies []manifest.DeletePolicy
		Desired  map[string]any
	}{h.ID().String(), h.Events, h.Weight, h.DeletePolicies, h.Object.Object})
}

// planHash covers the hashes of all items and hooks, in their order, and what they come after.
func (s *session) planHash(all *Plan) string {
	hashes := make([]string, 0, len(all.Items)+len(all.Hooks)+1)
	hashes = append(hashes, s.After)
	for _, i := range all.Items {
		hashes = append(hashes, i.Hash)
	}
	for _, h := range all.Hooks {
		hashes = append(hashes, h.Hash)
	}
	return s.sum(hashes)
}

func (p Planner) sum(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // objects came from JSON, and json sorts the keys of maps
	}
	return p.Hash(text)
}
