package kubernetes

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
)

// targetName is the API server, the only target. Dashboards of the operator before
// Fairlead know it by this name.
const targetName = "apiserver"

// Check asks the API server for one pod.
func (p *Provider) Check(ctx context.Context) []provider.TargetStatus {
	status := provider.TargetStatus{Name: targetName, Ready: true, Reason: "Ready", Details: map[string]string{
		"namespace": p.settings.Namespace, "image": p.settings.Image,
	}}
	var pods corev1.PodList
	err := p.client.List(ctx, &pods, client.InNamespace(p.settings.Namespace), client.Limit(1),
		client.MatchingLabels{labelManaged: "true", labelClusterID: p.clusterID})
	if err != nil {
		status.Ready, status.Reason, status.Message = false, "Unreachable", err.Error()
		if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
			status.Reason = "Forbidden"
		}
	}
	return []provider.TargetStatus{status}
}
