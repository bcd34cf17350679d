package controlplane

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const (
	// startTimeout is generous: a loaded machine with two cores needs half a minute.
	startTimeout = 3 * time.Minute
	pollEvery    = 100 * time.Millisecond
	callTimeout  = 5 * time.Second
)

// waitReady waits until the API server says so and the namespaces that everyone
// counts on are there.
func (c *ControlPlane) waitReady(ctx context.Context) error {
	return c.await(ctx, "the Kubernetes API server to be ready", func(ctx context.Context, k kubernetes.Interface) error {
		if _, err := k.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx); err != nil {
			return fmt.Errorf("ask /readyz: %w", err)
		}
		for _, ns := range []string{metav1.NamespaceDefault, metav1.NamespaceSystem} {
			if _, err := k.CoreV1().Namespaces().Get(ctx, ns, metav1.GetOptions{}); err != nil {
				return fmt.Errorf("read namespace %s: %w", ns, err)
			}
		}
		return nil
	})
}

// WaitNode waits until the node has reported ready after since, and pods may be
// created. A report from before is a former run's.
func (c *ControlPlane) WaitNode(ctx context.Context, since time.Time) error {
	return c.await(ctx, "the node to be ready", func(ctx context.Context, k kubernetes.Interface) error {
		node, err := k.CoreV1().Nodes().Get(ctx, NodeName, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("read node %s: %w", NodeName, err)
		}
		if !nodeReady(node, since) {
			return errors.New("node " + NodeName + " is not ready yet")
		}
		if _, err = k.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{}); err != nil {
			return fmt.Errorf("read the default service account: %w", err)
		}
		return nil
	})
}

func nodeReady(node *corev1.Node, since time.Time) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			// The API keeps whole seconds.
			return c.Status == corev1.ConditionTrue && !c.LastHeartbeatTime.Time.Before(since.Truncate(time.Second))
		}
	}
	return false
}

// await repeats check until it succeeds, a child dies or ctx ends.
func (c *ControlPlane) await(ctx context.Context, what string, check func(context.Context, kubernetes.Interface) error) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	k, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return fmt.Errorf("connect to the local API server: %w", err)
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		call, cancel := context.WithTimeout(ctx, callTimeout)
		err := check(call, k)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-c.group.Done():
			return c.group.Err()
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w (last answer: %w; logs: %s)", what, ctx.Err(), err, filepath.Join(c.options.Dir, "log"))
		case <-tick.C:
		}
	}
}
