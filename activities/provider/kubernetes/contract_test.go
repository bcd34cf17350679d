package kubernetes_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/providertest"
)

func TestContract(t *testing.T) {
	providertest.Run(t, func(t *testing.T) providertest.Harness {
		b := newBackend(t)
		h := b.harness((*backend).open)
		h.Place = b.namespace
		h.Serves = func(inst provider.Instance) bool { return b.pod(inst.ID).DeletionTimestamp.IsZero() }
		return h
	})
}

// harness is what all backends of pods that no node runs have. open makes a provider
// with the client of a backend.
func (b *backend) harness(open func(b *backend, clusterID string) provider.Provider) providertest.Harness {
	return providertest.Harness{
		New:    func(clusterID string) provider.Provider { return open(b, clusterID) },
		Settle: func(t *testing.T, id provider.ID) { b.setStatus(t, id, readyStatus()) },
		Stop: func(t *testing.T, id provider.ID) {
			b.setStatus(t, id, corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"})
		},
		HasNoHalt:    noHalt,
		HasNoSilence: noSilence,
		Foreign:      b.foreign,
		Left:         b.left,
		Kill:         b.killer(open),
	}
}

// What pods cannot do.
const (
	noHalt    = "after a reboot a node starts its pods itself, or they are ended for good"
	noSilence = "the API server lists all pods, or the list fails"
)

// foreign makes a pod of that name which somebody else runs.
func (b *backend) foreign(t *testing.T, id provider.ID) (there func() bool) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: id.Name, Labels: map[string]string{"app": "thesis"}},
		Spec: corev1.PodSpec{ // as the namespaces of the tests on a node ask for
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](13),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{Name: "c", Image: "localhost/squid:dev", SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			}}},
		},
	}
	if err := b.client.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	return func() bool { // a node may write its status meanwhile
		now := b.pod(id)
		return now.UID == pod.UID && now.DeletionTimestamp.IsZero() &&
			cmp.Equal(now.Labels, pod.Labels) && cmp.Equal(now.Annotations, pod.Annotations)
	}
}

// left names the pods and the Secrets.
func (b *backend) left() []string {
	b.t.Helper()
	var all []string
	var pods corev1.PodList
	var secrets corev1.SecretList
	for _, l := range []client.ObjectList{&pods, &secrets} {
		if err := b.client.List(b.t.Context(), l, client.InNamespace(b.namespace)); err != nil {
			b.t.Fatal(err)
		}
	}
	for i := range pods.Items {
		all = append(all, "pod "+pods.Items[i].Name)
	}
	for i := range secrets.Items {
		all = append(all, "Secret "+secrets.Items[i].Name)
	}
	return all
}

// killer is the Kill of a harness. A step is a write: what dies between two has done
// the first and not the second.
func (b *backend) killer(open func(*backend, string) provider.Provider) func(*testing.T, providertest.Call, provider.Request, int) bool {
	return func(t *testing.T, call providertest.Call, req provider.Request, steps int) (ended bool) {
		t.Helper()
		program := &backend{t: t, client: &mortal{Client: b.client, writes: steps}, namespace: b.namespace}
		err := call.Make(t.Context(), open(program, providertest.Cluster), req)
		if err != nil && !errors.Is(err, errKilled) {
			t.Fatalf("%s: %v", call, err)
		}
		return err == nil
	}
}

var errKilled = errors.New("the program was killed")

// mortal is the client of a program that is killed when it has written so often.
type mortal struct {
	client.Client
	writes int
}

func (m *mortal) write(do func() error) error {
	if m.writes == 0 {
		return errKilled
	}
	m.writes--
	return do()
}

func (m *mortal) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	return m.write(func() error { return m.Client.Create(ctx, o, opts...) })
}

func (m *mortal) Patch(ctx context.Context, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
	return m.write(func() error { return m.Client.Patch(ctx, o, patch, opts...) })
}

func (m *mortal) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	return m.write(func() error { return m.Client.Delete(ctx, o, opts...) })
}
