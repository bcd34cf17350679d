// Package plan says what applying an add-on's rendered set would do to the live cluster; it writes nothing.
package plan

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"example.com/fairlead/activities/addon/manifest"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

// Action is what is to be done to an object.
type Action string

// The actions. Keep is for objects of the inventory that are in the set no more and
// stay in the cluster; Item.Note has why.
const (
	Create  = Action(addons.ActionCreate)
	Update  = Action(addons.ActionUpdate)
	Replace = Action(addons.ActionReplace)
	Prune   = Action(addons.ActionPrune)

	Unchanged Action = "unchanged"
	Keep      Action = "keep"
)

// Plan is what is to be done, to be stored and reviewed. It holds no secret.
type Plan struct {
	// Hash covers all items; it is what an approval binds.
	Hash   string `json:"hash"`
	Items  []Item `json:"items"`
	Hooks  []Hook `json:"hooks,omitempty"`
	Counts Counts `json:"counts"`
}

// Item is what is to be done to one object, and why.
type Item struct {
	ID      manifest.ID `json:"id"`
	Version string      `json:"version"`
	Action  Action      `json:"action"`
	// UID and ResourceVersion are those of the live object that the item was made
	// from; both are empty for what is to be created.
	UID             types.UID `json:"uid,omitempty"`
	ResourceVersion string    `json:"resourceVersion,omitempty"`
	// Hash stays the same until another plan for the object would do something else.
	Hash string `json:"hash"`
	// Diff is unified, masked and cut at MaxDiff.
	Diff string `json:"diff,omitempty"`
	// Immutable names the fields that only a replacement can change.
	Immutable []string `json:"immutable,omitempty"`
	// Unverified says why the API server could not be asked.
	Unverified string `json:"unverified,omitempty"`
	// Owner is the tool or add-on that holds the object, as far as its marks tell.
	Owner string `json:"owner,omitempty"`
	// Blocked says why the action may not be taken.
	Blocked string `json:"blocked,omitempty"`
	// Note says why an object is kept.
	Note string `json:"note,omitempty"`
	// Foreign is set for an object that is kept because it is not the add-on's any more.
	Foreign bool `json:"foreign,omitempty"`
	// Adopts is set for an object that exists and was not the add-on's until now.
	Adopts bool `json:"adopts,omitempty"`
	// Migrates is set if the fields that Former managers hold become the add-on's
	// before the object is applied: the plan was made for that.
	Migrates bool `json:"migrates,omitempty"`
	// Unmarked is set if the live object lacks the add-on's label. The label is no
	// change, and still has to be written.
	Unmarked bool `json:"unmarked,omitempty"`
}

// Hook is a hook that the sync would run.
type Hook struct {
	ID     manifest.ID      `json:"id"`
	Events []manifest.Event `json:"events"`
	Weight int              `json:"weight"`
	Hash   string           `json:"hash"`
}

// Counts are the numbers of items. Unverified and Blocked items are counted under
// their action too.
type Counts struct {
	Create     int `json:"create"`
	Update     int `json:"update"`
	Replace    int `json:"replace"`
	Prune      int `json:"prune"`
	Unchanged  int `json:"unchanged"`
	Keep       int `json:"keep"`
	Unverified int `json:"unverified"`
	Blocked    int `json:"blocked"`
}

// Changes is the number of objects that the plan would write or delete.
func (c Counts) Changes() int { return c.Create + c.Update + c.Replace + c.Prune }

// Owned is an object of the add-on's inventory.
type Owned struct {
	ID  manifest.ID `json:"id"`
	UID types.UID   `json:"uid"`
}

// Request is what is to be planned.
type Request struct {
	Addon string
	// Set is rendered, with namespaces and the add-on's label on each object. Of its
	// hooks, Plan takes those that the sync would run.
	Set manifest.Set
	// Previous is the inventory of the last sync.
	Previous []Owned

	// Adopt allows to take objects over from Helm, Argo CD or Flux.
	Adopt bool
	// Prune allows to delete what is in Previous and not in Set.
	Prune bool
	// ReplaceAllowed is whether an object may be deleted and made again.
	ReplaceAllowed bool
	// Ignore names fields that the add-on leaves as they are. The live value counts;
	// what is rendered is for new objects only.
	Ignore []addons.IgnoredDifference
	// After tells which sync was the last. The same changes after another one are another
	// plan: an approval that was used is not one for them.
	After string
	// Secrets are texts to mask besides the values of the Secrets of Set.
	Secrets [][]byte
}

// Planner compares sets with a cluster.
type Planner struct {
	// Client acts as the add-on identity.
	Client dynamic.Interface
	Mapper meta.RESTMapper
	// Hash is keyed, so that nobody can try out what a Secret holds.
	Hash func([]byte) string
}

// Plan compares r with the live cluster. Its error is an Errors if objects could not
// be planned; there is no plan then, for part of one must not be approved.
func (p Planner) Plan(ctx context.Context, r Request) (*Plan, error) {
	s, err := p.look(ctx, r)
	if err != nil {
		return nil, err
	}
	items, err := s.items(ctx)
	if err != nil {
		return nil, err
	}
	return s.planOf(append(items, s.prune()...)), nil
}

func (s *session) planOf(items []Item) *Plan {
	slices.SortFunc(items, func(a, b Item) int { return strings.Compare(a.ID.String(), b.ID.String()) })
	out := &Plan{Items: items, Hooks: s.hooks()}
	out.Counts = count(items)
	out.Hash = s.planHash(out)
	return out
}

func count(items []Item) Counts {
	var c Counts
	for _, i := range items {
		switch i.Action {
		case Create:
			c.Create++
		case Update:
			c.Update++
		case Replace:
			c.Replace++
		case Prune:
			c.Prune++
		case Unchanged:
			c.Unchanged++
		case Keep:
			c.Keep++
		}
		if i.Unverified != "" {
			c.Unverified++
		}
		if i.Blocked != "" {
			c.Blocked++
		}
	}
	return c
}
