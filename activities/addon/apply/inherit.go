package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"example.com/fairlead/activities/addon/plan"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

// inherit makes the fields that former managers hold of an object the add-on's own: those
// that are not rendered go when it is applied, and those that are belong to nobody else. It
// returns the resourceVersion to apply on.
func (a *Applier) inherit(ctx context.Context, resource dynamic.ResourceInterface, fresh plan.Item) (string, error) {
	live, err := resource.Get(ctx, fresh.ID.Name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	if live.GetResourceVersion() != fresh.ResourceVersion {
		return fresh.ResourceVersion, nil // the write finds out, too
	}
	entries, changed, err := inherited(live.GetManagedFields(), live.GetAPIVersion())
	if err != nil || !changed {
		return fresh.ResourceVersion, err
	}
	patch, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/resourceVersion", "value": fresh.ResourceVersion},
		{"op": "replace", "path": "/metadata/managedFields", "value": entries},
	})
	if err != nil {
		return "", err
	}
	live, err = resource.Patch(ctx, fresh.ID.Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: addons.FieldManager})
	if err != nil {
		return "", fmt.Errorf("take over its fields: %w", err)
	}
	return live.GetResourceVersion(), nil
}

// inherited has one entry of the add-on's instead of those of former managers.
func inherited(entries []metav1.ManagedFieldsEntry, version string) (after []metav1.ManagedFieldsEntry, changed bool, err error) {
	all := fieldpath.NewSet()
	for _, e := range entries {
		ours := e.Manager == addons.FieldManager && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == ""
		if !ours && !plan.Former(e) {
			after = append(after, e)
			continue
		}
		changed = changed || !ours
		set := fieldpath.NewSet()
		if e.FieldsV1 != nil {
			if err := set.FromJSON(e.FieldsV1.GetRawReader()); err != nil {
				return nil, false, fmt.Errorf("read the fields of manager %s: %w", e.Manager, err)
			}
		}
		all = all.Union(set)
	}
	raw, err := all.ToJSON()
	if err != nil {
		return nil, false, err
	}
	now := metav1.NewTime(time.Now())
	return slices.Insert(after, 0, metav1.ManagedFieldsEntry{
		Manager: addons.FieldManager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: version,
		Time: &now, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(string(raw)),
	}), changed, nil
}
