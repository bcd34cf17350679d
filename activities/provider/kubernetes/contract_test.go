package kubernetes_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/providertest"
)

func TestContract(t *testing.T) {
	providertest.Run(t, func(t *testing.T) providertest.Harness {
		b := newBackend(t)
		return providertest.Harness{
			New:    b.open,
			Place:  b.namespace,
			Serves: func(inst provider.Instance) bool { return b.pod(inst.ID).DeletionTimestamp.IsZero() },
			Stop: func(t *testing.T, id provider.ID) {
				b.setStatus(t, id, corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"})
			},
			Foreign: b.foreign,
			Settle: func(t *testing.T, id provider.ID) {
				b.setStatus(t, id, readyStatus())
			},
		}
	})
}

// foreign makes a pod of that name which somebody else runs.
func (b *backend) foreign(t *testing.T, id provider.ID) (there func() bool) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: id.Name, Labels: map[string]string{"app": "thesis"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "localhost/squid:dev"}}},
	}
	if err := b.client.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	made := pod.ResourceVersion
	return func() bool { return b.pod(id).ResourceVersion == made }
}
