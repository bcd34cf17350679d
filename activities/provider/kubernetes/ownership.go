package kubernetes

import (
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
)

// Labels by which instances are found.
const (
	labelManaged   = "crawl.example.com/managed"
	labelUID       = "crawl.example.com/proxy-operator-uid"
	labelClusterID = "crawl.example.com/cluster-id"
	labelProvider  = "crawl.example.com/provider"
)

// Annotations that hold the rest of what an instance says of itself.
const (
	annotationNamespace   = "crawl.example.com/proxy-namespace"
	annotationName        = "crawl.example.com/proxy-name"
	annotationIncarnation = "crawl.example.com/incarnation"
	annotationHash        = "crawl.example.com/spec-hash"
)

// objectMeta marks an object as part of the instance of req.
func (p *Provider) objectMeta(req provider.Request) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: key(req.ID).Namespace,
		Name:      req.Name,
		Labels: map[string]string{
			labelManaged:   "true",
			labelUID:       req.Owner.UID,
			labelClusterID: req.Owner.ClusterID,
			labelProvider:  p.name,
		},
		Annotations: map[string]string{
			annotationNamespace:   req.Owner.Namespace,
			annotationName:        req.Owner.Name,
			annotationIncarnation: strconv.FormatInt(req.Incarnation, 10),
			annotationHash:        req.Hash,
		},
	}
}

// owned says whether an object is part of an instance of this cluster. Whatever
// else has the name is never touched.
func (p *Provider) owned(o client.Object) bool {
	l := o.GetLabels()
	return l[labelManaged] == "true" && l[labelUID] != "" && l[labelClusterID] == p.clusterID
}

// described is what an object says of its instance.
func described(o client.Object, suffix string) provider.Instance {
	l, a := o.GetLabels(), o.GetAnnotations()
	incarnation, _ := strconv.ParseInt(a[annotationIncarnation], 10, 64) // 0 when somebody edited it: unknown
	return provider.Instance{
		ID:          provider.ID{Place: o.GetNamespace() + suffix, Name: o.GetName()},
		ProviderID:  "namespaces/" + o.GetNamespace() + "/pods/" + o.GetName(),
		Owner:       provider.Owner{Namespace: a[annotationNamespace], Name: a[annotationName], UID: l[labelUID], ClusterID: l[labelClusterID]},
		Incarnation: incarnation,
		Hash:        a[annotationHash],
		CreatedAt:   o.GetCreationTimestamp().UTC().Truncate(time.Second),
	}
}

// exactly is the precondition that a write meets the object that was looked at.
func exactly(uid types.UID) client.Preconditions { return client.Preconditions{UID: &uid} }
