package plan

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	addons "example.com/fairlead/api/addons/v1alpha1"
)

// former are the field managers of tools that an add-on takes objects over from.
var former = []string{
	"helm", "kubectl", "kubectl-client-side-apply", "kubectl-create", "kubectl-replace",
	"argocd-controller", "argocd-application-controller", "kustomize-controller", "helm-controller",
}

// Former is whether the fields of e become the add-on's when it adopts the object: they
// go if they are not rendered.
func Former(e metav1.ManagedFieldsEntry) bool {
	return e.Subresource == "" && slices.Contains(former, e.Manager)
}

// adopts is whether t exists and was not the add-on's until now.
func (s *session) adopts(t *target) bool {
	return t.live != nil && t.live.GetLabels()[addons.LabelAddon] != s.Addon && !s.owned[t.live.GetUID()]
}

// migrate takes the fields out of result, of a dry run, that former managers alone
// hold. Most of those are defaults, which the API server puts back: it is asked again.
// If it does not let them go, for one of them cannot be changed, former managers keep
// them all: t.migrates is not set then.
func (s *session) migrate(ctx context.Context, t *target, result *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	t.migrates = true
	theirs := fieldsOf(result, Former)
	kept := fieldsOf(result, func(e metav1.ManagedFieldsEntry) bool { return !Former(e) })
	without := result.DeepCopy()
	for _, path := range only(theirs, kept) {
		removeAt(without.Object, path)
	}
	if reflect.DeepEqual(without, result) {
		return result, nil
	}
	without.SetResourceVersion(t.live.GetResourceVersion())
	after, err := t.resource.Update(ctx, without, metav1.UpdateOptions{FieldManager: addons.FieldManager, DryRun: []string{metav1.DryRunAll}})
	switch {
	case apierrors.IsInvalid(err):
		t.migrates = false
		return result, nil
	case err != nil:
		return nil, fmt.Errorf("without what former managers set: %w", err)
	}
	return after, nil
}

// removeAt takes the value at path out of node, and returns what is left of it.
func removeAt(node any, path fieldpath.Path) any {
	last := len(path) == 1
	switch n := node.(type) {
	case map[string]any:
		if path[0].FieldName == nil {
			return node
		}
		name := *path[0].FieldName
		child, ok := n[name]
		switch {
		case !ok:
		case last:
			delete(n, name)
		default:
			n[name] = removeAt(child, path[1:])
		}
	case []any:
		i := slices.IndexFunc(n, func(element any) bool { return is(element, path[0]) })
		switch {
		case i < 0:
		case last:
			return slices.Delete(n, i, i+1)
		default:
			n[i] = removeAt(n[i], path[1:])
		}
	}
	return node
}

// is tells whether element is the one of its list that e names.
func is(element any, e fieldpath.PathElement) bool {
	switch {
	case e.Value != nil:
		return reflect.DeepEqual(element, (*e.Value).Unstructured())
	case e.Key == nil:
		return false
	}
	fields, _ := element.(map[string]any)
	for _, f := range *e.Key {
		if !reflect.DeepEqual(fields[f.Name], f.Value.Unstructured()) {
			return false
		}
	}
	return true
}

// toolsMarks are labels that the owner of t gave it, and that are no change when it is
// adopted, unless they are rendered.
func (s *session) toolsMarks(t *target) []pointer {
	if !s.adopts(t) {
		return nil
	}
	var out []pointer
	for label, tool := range map[string]string{
		"app.kubernetes.io/managed-by": "the Helm release ", "app.kubernetes.io/instance": "the Argo CD application ",
	} {
		if _, rendered := t.GetLabels()[label]; !rendered && strings.HasPrefix(toolOf(t.live), tool) {
			out = append(out, pointer{"metadata", "labels", label})
		}
	}
	return out
}
