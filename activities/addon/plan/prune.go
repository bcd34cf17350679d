package plan

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"example.com/fairlead/activities/addon/manifest"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

// leftover is an object of the inventory that the set has no more.
type leftover struct {
	Owned

	version string
	live    *unstructured.Unstructured // nil if it is gone
	// unserved is set if the cluster does not serve its kind.
	unserved bool
}

// findLeftovers reads what the inventory has and the set has not.
func (s *session) findLeftovers(ctx context.Context) error {
	var ids []manifest.ID
	for _, o := range s.Previous {
		if s.crowd.first[o.ID] == nil {
			s.leftovers = append(s.leftovers, &leftover{Owned: o})
			ids = append(ids, o.ID)
		}
	}
	errs := inParallel(ctx, len(ids), func(ctx context.Context, i int) error {
		return s.readLeftover(ctx, s.leftovers[i])
	})
	return gather(ctx, ids, errs, s.mask)
}

func (s *session) readLeftover(ctx context.Context, l *leftover) error {
	mapping, err := s.Mapper.RESTMapping(l.ID.GroupKind)
	switch {
	case meta.IsNoMatchError(err):
		l.unserved = true
		return nil
	case err != nil:
		return unserved(err)
	}
	l.version = mapping.GroupVersionKind.Version
	resource, err := s.resource(mapping, l.ID)
	if err != nil {
		return err
	}
	l.live, err = resource.Get(ctx, l.ID.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		l.live = nil
		return nil
	}
	return err
}

// prune plans the deletion of the leftovers. What is gone already is left out, as is
// what the set has under another API group.
func (s *session) prune() []Item {
	renamed := map[types.UID]bool{}
	for _, t := range s.targets {
		if t.live != nil {
			renamed[t.live.GetUID()] = true
		}
	}
	var out []Item
	for _, l := range s.leftovers {
		if l.live == nil && !l.unserved || l.live != nil && renamed[l.live.GetUID()] {
			continue
		}
		out = append(out, s.pruned(l))
	}
	return out
}

func (s *session) pruned(l *leftover) Item {
	item := Item{ID: l.ID, Version: l.version, UID: l.UID, Action: Prune}
	if item.Note = s.disowns(l); item.Note != "" {
		item.Action, item.Foreign = Keep, true
	} else if item.Note = s.keeps(l); item.Note != "" {
		item.Action = Keep
	}
	if l.live != nil {
		item.UID, item.ResourceVersion = l.live.GetUID(), l.live.GetResourceVersion()
	}
	if item.Action == Prune {
		item.Diff = s.diff(l.ID, normal(l.live.Object, nil), nil)
	}
	item.Hash = s.itemHash(item, nil, nil)
	return item
}

// disowns says why the leftover is not the add-on's any more. It is empty if it is.
func (s *session) disowns(l *leftover) string {
	if l.unserved {
		return ""
	}
	label := l.live.GetLabels()[addons.LabelAddon]
	switch {
	case label != "" && label != s.Addon:
		return fmt.Sprintf("it is the add-on %s's now", label)
	case l.UID != "" && l.UID != l.live.GetUID():
		return "it was deleted and made again by somebody else"
	case l.UID == "" && label == "":
		return "neither its UID nor its label tells that it is this add-on's"
	}
	return ""
}

// keeps says why the leftover is not deleted. It is empty if it is.
func (s *session) keeps(l *leftover) string {
	switch {
	case l.unserved:
		return "the cluster does not serve its kind, so nobody can tell whether it is there"
	case NeverDeleted(l.ID.GroupKind):
		return fmt.Sprintf("a %s is never pruned", l.ID.Kind)
	case l.live.GetAnnotations()[resourcePolicy] == "keep":
		return resourcePolicy + " is keep"
	case !s.Prune:
		return "the add-on does not prune"
	}
	return ""
}
