package plan

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fairlead/activities/addon/manifest"
)

// The kinds that are not like others.
var (
	apiServiceKind   = schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}
	namespaceKind    = schema.GroupKind{Kind: "Namespace"}
	secretKind       = schema.GroupKind{Kind: "Secret"}
	claimKind        = schema.GroupKind{Kind: "PersistentVolumeClaim"}
	volumeKind       = schema.GroupKind{Kind: "PersistentVolume"}
	storageClassKind = schema.GroupKind{Group: "storage.k8s.io", Kind: "StorageClass"}
	clusterRoleKind  = schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}
	autoscalerKind   = schema.GroupKind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}
)

// NeverDeleted is whether objects of the kind are never pruned: more goes with them
// than themselves.
func NeverDeleted(k schema.GroupKind) bool {
	return holdsData(k) || k == storageClassKind
}

// holdsData is whether a kind's objects cannot be made again as they were.
func holdsData(k schema.GroupKind) bool {
	switch k {
	case namespaceKind, claimKind, volumeKind:
		return true
	}
	return manifest.IsDefinition(k)
}
