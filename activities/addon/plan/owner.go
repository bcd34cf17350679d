package plan

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	addons "example.com/fairlead/api/addons/v1alpha1"
)

const (
	helmName       = "meta.helm.sh/release-name"
	helmNamespace  = "meta.helm.sh/release-namespace"
	argoTracking   = "argocd.argoproj.io/tracking-id"
	fluxKustomize  = "kustomize.toolkit.fluxcd.io/"
	fluxHelm       = "helm.toolkit.fluxcd.io/"
	lastApplied    = "kubectl.kubernetes.io/last-applied-configuration"
	resourcePolicy = "helm.sh/resource-policy"
)

// Marks say who owns an object, and are never a change. The labels managed-by and
// instance are none: charts set them by themselves.
var (
	markLabels = []string{
		addons.LabelAddon, fluxKustomize + "name", fluxKustomize + "namespace", fluxHelm + "name", fluxHelm + "namespace",
	}
	markAnnotations = []string{
		helmName, helmNamespace, argoTracking, "argocd.argoproj.io/installation-id", lastApplied,
	}
)

// own says in item whose t.live is, and whether that or something else blocks what is
// to be done with it.
func (s *session) own(item *Item, t *target) {
	label := t.live.GetLabels()[addons.LabelAddon]
	item.Unmarked = label != s.Addon
	item.Adopts, item.Migrates = s.adopts(t), t.migrates
	switch tool := toolOf(t.live); {
	case label != "" && item.Unmarked:
		item.Owner = "the add-on " + label
		item.Blocked = fmt.Sprintf("it belongs to the add-on %s: remove it from one of the two", label)
	case tool != "":
		item.Owner = tool
		if item.Adopts && !s.Adopt {
			item.Blocked = fmt.Sprintf("it belongs to %s: set adopt to take it over", tool)
		}
	}
	if item.Blocked == "" {
		item.Blocked = s.hindrance(item, t)
	}
}

// hindrance says why nobody may do what item says, whoever the owner is.
func (s *session) hindrance(item *Item, t *target) string {
	switch {
	case t.live.GetDeletionTimestamp() != nil:
		return "it is being deleted" + waitsFor(t.live)
	case item.Action != Replace:
		return ""
	case holdsData(t.id.GroupKind):
		return fmt.Sprintf("a %s is never deleted to be made again: change it by hand, or render it as it is", t.id.Kind)
	case !s.ReplaceAllowed:
		return "it would have to be deleted and made again, which replacePolicy does not allow"
	}
	return ""
}

func waitsFor(live *unstructured.Unstructured) string {
	if len(live.GetFinalizers()) == 0 {
		return ""
	}
	return ", and waits for " + strings.Join(live.GetFinalizers(), ", ")
}

// toolOf is the tool, and its name for what holds live. It is empty if none does.
func toolOf(live *unstructured.Unstructured) string {
	labels, annotations := live.GetLabels(), live.GetAnnotations()
	switch {
	case labels[fluxKustomize+"name"] != "":
		return fluxOwner("Kustomization", labels, fluxKustomize)
	case labels[fluxHelm+"name"] != "":
		return fluxOwner("HelmRelease", labels, fluxHelm)
	case annotations[argoTracking] != "":
		app, _, _ := strings.Cut(annotations[argoTracking], ":")
		return "the Argo CD application " + app
	case annotations[helmName] != "":
		return fmt.Sprintf("the Helm release %s/%s", annotations[helmNamespace], annotations[helmName])
	}
	return ""
}

func fluxOwner(kind string, labels map[string]string, prefix string) string {
	return fmt.Sprintf("the Flux %s %s/%s", kind, labels[prefix+"namespace"], labels[prefix+"name"])
}
