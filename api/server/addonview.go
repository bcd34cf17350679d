package server

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addons "example.com/fairlead/api/addons/v1alpha1"
)

// addonView is what lists tell of an add-on: what a person looks for, and no more.
type addonView struct {
	Name      string       `json:"name"`
	Namespace string       `json:"namespace"`
	Phase     addons.Phase `json:"phase"`
	Message   string       `json:"message"`
	Revision  string       `json:"revision"`
	// Health of what was applied; empty before anything was.
	Health addons.HealthStatus `json:"health"`
	Plan   addonPlan           `json:"plan"`

	Title     string `json:"title"`
	Category  string `json:"category"`
	Suspended bool   `json:"suspended"`
	// Deleting: the add-on goes, and if Uninstalling its objects too.
	Deleting     bool `json:"deleting"`
	Uninstalling bool `json:"uninstalling"`
}

// addonPlan is what the next sync would do, in numbers. Nothing waits without a hash.
type addonPlan struct {
	Hash       string `json:"hash"`
	Create     int32  `json:"create"`
	Update     int32  `json:"update"`
	Replace    int32  `json:"replace"`
	Prune      int32  `json:"prune"`
	Unchanged  int32  `json:"unchanged"`
	Unverified int32  `json:"unverified"`
}

type addonList struct {
	Addons []addonView `json:"addons"`
	Count  int         `json:"count"`
}

// addonDetails are what is told of one add-on alone.
type addonDetails struct {
	addonView

	UID                string           `json:"uid"`
	Generation         int64            `json:"generation"`
	ObservedGeneration int64            `json:"observedGeneration"`
	Spec               addons.AddonSpec `json:"spec"`
	// Definition that it was made from in git, as file@commit.
	Definition string `json:"definition,omitempty"`
	// MarkedForUninstall: whoever deletes it removes its objects.
	MarkedForUninstall bool `json:"markedForUninstall"`

	Resolved      *addons.Resolved     `json:"resolved,omitempty"`
	HealthMessage string               `json:"healthMessage"`
	Objects       []addons.ObjectRef   `json:"objects"`
	ObjectsTotal  int32                `json:"objectsTotal"`
	Hooks         []addons.HookRef     `json:"hooks"`
	HookRuns      []addons.HookRun     `json:"hookRuns"`
	LastSynced    *metav1.Time         `json:"lastSynced,omitempty"`
	Sync          *addons.SyncProgress `json:"sync,omitempty"`
	// History has the newest sync last.
	History    []addons.HistoryEntry `json:"history"`
	Conditions []metav1.Condition    `json:"conditions"`
}

func viewOfAddon(a *addons.Addon) addonView {
	v := addonView{
		Name: a.Name, Namespace: a.Spec.Namespace,
		Phase: cmp.Or(a.Status.Phase, addons.PhasePending), Message: a.Status.Message, Revision: a.Status.Revision,
		Title: a.Spec.Title, Category: a.Spec.Category, Suspended: a.Suspended(),
		Deleting: !a.DeletionTimestamp.IsZero(), Uninstalling: !a.DeletionTimestamp.IsZero() && a.Uninstalls(),
	}
	if h := a.Status.Health; h != nil {
		v.Health = h.Status
	}
	if p := a.Status.Plan; p != nil {
		v.Plan = addonPlan{p.Hash, p.Create, p.Update, p.Replace, p.Prune, p.Unchanged, p.Unverified}
	}
	return v
}

func detailsOfAddon(a *addons.Addon) addonDetails {
	d := addonDetails{
		addonView: viewOfAddon(a),
		UID:       string(a.UID), Generation: a.Generation, ObservedGeneration: a.Status.ObservedGeneration, Spec: a.Spec,
		Definition: a.Annotations[addons.AnnotationSource], MarkedForUninstall: a.Uninstalls(),
		Resolved: a.Status.Resolved, Objects: listed(a.Status.Objects), ObjectsTotal: a.Status.ObjectsTotal,
		Hooks: listed(a.Status.Hooks), HookRuns: listed(a.Status.HookRuns),
		LastSynced: a.Status.LastSynced, Sync: a.Status.Sync,
		History: listed(a.Status.History), Conditions: listed(a.Status.Conditions),
	}
	if h := a.Status.Health; h != nil {
		d.HealthMessage = h.Message
	}
	return d
}

// listed is never null in JSON.
func listed[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}
