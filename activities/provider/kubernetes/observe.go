package kubernetes

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
)

// pageSize bounds one answer of the API server.
const pageSize = 500

// Get looks at one instance. A pod of the same name that is not ours is none.
func (p *Provider) Get(ctx context.Context, id provider.ID) (provider.Instance, error) {
	suffix, err := p.locate(ctx, id)
	if err != nil {
		return provider.Instance{}, err
	}
	var pod corev1.Pod
	err = p.client.Get(ctx, key(id), &pod)
	if apierrors.IsNotFound(err) || err == nil && !p.owned(&pod) && !adoptable(&pod) {
		return provider.Instance{}, fmt.Errorf("pod %s/%s of cluster %s: %w", id.Place, id.Name, p.clusterID, provider.ErrNotFound)
	}
	if err != nil {
		return provider.Instance{}, classify("look at", id, err)
	}
	return observe(&pod, suffix), nil
}

// List looks at all instances of this cluster, page by page.
func (p *Provider) List(ctx context.Context) (provider.Listing, error) {
	var l provider.Listing
	suffix, err := p.cluster.suffix(ctx)
	if err != nil {
		return l, err
	}
	options := &client.ListOptions{Namespace: p.settings.Namespace, Limit: pageSize}
	client.MatchingLabels{labelManaged: "true", labelClusterID: p.clusterID, labelProvider: p.name}.ApplyToList(options)
	for {
		var page corev1.PodList
		if err := p.client.List(ctx, &page, options); err != nil {
			return provider.Listing{}, classify("list", provider.ID{Place: p.settings.Namespace}, err)
		}
		for i := range page.Items {
			if p.owned(&page.Items[i]) {
				l.Instances = append(l.Instances, observe(&page.Items[i], suffix))
			}
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return l, nil
		}
	}
}

// observe reads what a pod is doing.
func observe(pod *corev1.Pod, suffix string) provider.Instance {
	inst := described(pod, suffix)
	switch {
	case !pod.DeletionTimestamp.IsZero():
		inst.State = provider.Unknown
		inst.Message = goes(pod)
	case pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded:
		inst.State = provider.Stopped
		inst.Message = ended(pod)
	case pod.Status.Phase == corev1.PodUnknown:
		inst.State, inst.Message = provider.Unknown, "the pod's node does not answer"
	case condition(pod, corev1.PodReady).Status == corev1.ConditionTrue && pod.Status.PodIP != "":
		inst.State, inst.Host, inst.Port = provider.Running, pod.Status.PodIP, containerPort(pod)
	default:
		inst.State, inst.Message = provider.Provisioning, waitingFor(pod)
	}
	return inst
}

// goes says since when a pod is being deleted, and what may hold that up: only the
// pod's node can end it.
func goes(pod *corev1.Pod) string {
	text := "the pod is being deleted since " + pod.DeletionTimestamp.UTC().Format("2006-01-02 15:04:05 MST")
	if pod.Spec.NodeName != "" {
		text += "; its node " + pod.Spec.NodeName + " must end it: bring the node back if it is gone, or let the Proxy go with the annotation crawl.example.com/skip-cleanup"
	}
	return text
}

func containerPort(pod *corev1.Pod) int32 {
	for _, c := range pod.Spec.Containers {
		if c.Name == containerName && len(c.Ports) > 0 {
			return c.Ports[0].ContainerPort
		}
	}
	return 0
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.PodCondition{}
}

// ended says why a pod is over.
func ended(pod *corev1.Pod) string {
	text := "the pod ended as " + string(pod.Status.Phase)
	if pod.Status.Reason != "" {
		text += " (" + pod.Status.Reason + ")"
	}
	if pod.Status.Message != "" {
		text += ": " + pod.Status.Message
	}
	return text
}

// waitingFor says what a pod that does not serve is waiting for, the most telling
// reason first.
func waitingFor(pod *corev1.Pod) string {
	if c := condition(pod, corev1.PodScheduled); c.Status == corev1.ConditionFalse {
		return c.Reason + ": " + c.Message
	}
	for _, s := range pod.Status.ContainerStatuses {
		switch {
		case s.State.Waiting != nil && s.State.Waiting.Message != "":
			return s.State.Waiting.Reason + ": " + s.State.Waiting.Message
		case s.State.Waiting != nil && s.State.Waiting.Reason != "":
			return s.State.Waiting.Reason
		case s.State.Running != nil:
			return "Squid does not listen yet"
		}
	}
	return "the pod waits for a node"
}
