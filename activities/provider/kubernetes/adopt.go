package kubernetes

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/api/kube"
)

// legacyUID is the label by which the operator before Fairlead knew its pods.
const legacyUID = "proxy-operator-uid"

// adoptable says whether an object is of that operator: the name of an instance
// follows from the UID, so nobody else's pod has both.
func adoptable(o client.Object) bool {
	l := o.GetLabels()
	return l[legacyUID] != "" && l[labelUID] == "" && o.GetName() == provider.InstanceName(l[legacyUID])
}

// adopt makes the pod of that operator the instance of req. It has no hash: what it
// was made from is not known.
func (p *Provider) adopt(ctx context.Context, req provider.Request, pod *corev1.Pod) error {
	before := pod.DeepCopy()
	meta := p.objectMeta(req)
	maps.Copy(pod.Labels, meta.Labels)
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	maps.Copy(pod.Annotations, meta.Annotations)
	if err := p.client.Patch(ctx, pod, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), kube.FieldOwner); err != nil {
		return fmt.Errorf("put labels on pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}
