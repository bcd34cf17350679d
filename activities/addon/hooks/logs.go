package hooks

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// maxOutput is how much is kept of what a container has printed, and maxOutputs of all of
	// a hook's, in bytes.
	maxOutput, maxOutputs = 4 << 10, 16 << 10
	// maxLines is how many lines are asked for of a container.
	maxLines = 500
)

// PodLogs reads logs from the API server.
func PodLogs(c kubernetes.Interface) Logs {
	return func(ctx context.Context, namespace, pod, container string, last int64) (string, error) {
		stream, err := c.CoreV1().Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{Container: container, TailLines: ptr.To[int64](maxLines)}).Stream(ctx)
		if err != nil {
			return "", err
		}
		defer func() { _ = stream.Close() }()
		return tail(stream, last)
	}
}

// tail is at most the last so many bytes of r.
func tail(r io.Reader, last int64) (string, error) {
	kept, block := []byte{}, make([]byte, 32<<10)
	for {
		n, err := r.Read(block)
		if kept = append(kept, block[:n]...); int64(len(kept)) > last {
			kept = kept[int64(len(kept))-last:]
		}
		switch {
		case err == io.EOF:
			return strings.ToValidUTF8(string(kept), "�"), nil
		case err != nil:
			return "", err
		}
	}
}

// output is the end of what the pods of o have printed, those of the newest first. What cannot
// be read is told in its place: it is no reason for a hook to fail.
func (r *Runner) output(ctx context.Context, o *unstructured.Unstructured) string {
	pods, err := r.pods(ctx, o)
	if err != nil {
		return fmt.Sprintf("(the pods were not found: %v)", err)
	}
	slices.SortFunc(pods, func(a, b corev1.Pod) int { return b.CreationTimestamp.Compare(a.CreationTimestamp.Time) })
	var b strings.Builder
	for _, pod := range pods {
		for _, c := range pod.Spec.Containers {
			if b.Len() >= maxOutputs-maxOutput {
				b.WriteString("(and more)\n")
				return r.Mask(b.String())
			}
			text, err := r.Logs(ctx, pod.Namespace, pod.Name, c.Name, maxOutput)
			if err != nil {
				text = fmt.Sprintf("(not read: %v)", err)
			}
			fmt.Fprintf(&b, "== pod %s, container %s:\n%s\n", pod.Name, c.Name, strings.TrimRight(text, "\n"))
		}
	}
	return r.Mask(b.String())
}

// pods of o, which is a Job or a Pod.
func (r *Runner) pods(ctx context.Context, o *unstructured.Unstructured) ([]corev1.Pod, error) {
	of := []client.ListOption{client.InNamespace(o.GetNamespace())}
	if isPod(o) {
		of = append(of, client.MatchingFields{"metadata.name": o.GetName()})
	} else {
		of = append(of, client.MatchingLabels{"batch.kubernetes.io/controller-uid": string(o.GetUID())})
	}
	var list corev1.PodList
	err := r.Client.List(ctx, &list, of...)
	return list.Items, err
}

// stuck is what the pods of o wait for, in words that go behind others.
func (r *Runner) stuck(ctx context.Context, o *unstructured.Unstructured) string {
	pods, err := r.pods(ctx, o)
	if err != nil {
		return ""
	}
	for _, pod := range pods {
		for _, c := range append(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses...) {
			if w := c.State.Waiting; w != nil {
				return fmt.Sprintf("; container %s of pod %s waits: %s", c.Name, pod.Name, joined(w.Reason, w.Message))
			}
		}
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
				return fmt.Sprintf("; pod %s is not scheduled: %s", pod.Name, joined(c.Reason, c.Message))
			}
		}
	}
	return ""
}

// broken is how the pods of a Job have failed, which the Job itself does not say, in words
// that go behind others.
func (r *Runner) broken(ctx context.Context, o *unstructured.Unstructured) string {
	if !isJob(o) {
		return ""
	}
	pods, err := r.pods(ctx, o)
	if err != nil {
		return ""
	}
	for _, pod := range pods {
		if how := podFailure(&pod); how != "" {
			return fmt.Sprintf("; in pod %s, %s", pod.Name, how)
		}
	}
	return ""
}

// podFailure is which container of a pod has failed, and how.
func podFailure(pod *corev1.Pod) string {
	for _, c := range append(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses...) {
		if t := c.State.Terminated; t != nil && t.ExitCode != 0 {
			return fmt.Sprintf("container %s ended with code %d", c.Name, t.ExitCode)
		}
	}
	return pod.Status.Message
}
