package kubernetes_test

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/providertest"
)

// legacy makes a pod as the operator before Fairlead did.
func (b *backend) legacy(name, uid string) {
	b.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name, Labels: map[string]string{"proxy-operator-uid": uid, "managed": "true"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "squid", Image: "localhost/squid:dev"}}},
	}
	if err := b.client.Create(b.t.Context(), pod); err != nil {
		b.t.Fatal(err)
	}
}

func TestAPodOfTheOperatorBeforeIsAdopted(t *testing.T) {
	b := newBackend(t)
	p, req := b.open(providertest.Cluster), b.request("a")
	b.legacy(req.Name, "a")
	if inst, err := p.Get(t.Context(), req.ID); err != nil || inst.Hash != "" {
		t.Fatalf("get before the adoption: %+v, %v", inst, err)
	}
	made := b.pod(req.ID).UID
	if _, err := p.Create(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if b.pod(req.ID).UID != made {
		t.Error("the pod was made anew")
	}
	l, err := p.List(t.Context())
	if err != nil || len(l.Instances) != 1 || l.Instances[0].Owner != req.Owner || l.Instances[0].Hash != req.Hash {
		t.Errorf("the list after the adoption is %+v, %v", l, err)
	}
}

// TestADisownedPodIsNotAdoptedAgain: neither one that was adopted, nor one that was
// only going to be.
func TestADisownedPodIsNotAdoptedAgain(t *testing.T) {
	for name, adopted := range map[string]bool{"one that was adopted": true, "one that was not": false} {
		t.Run(name, func(t *testing.T) {
			b := newBackend(t)
			p, req := b.open(providertest.Cluster), b.request("a")
			b.legacy(req.Name, "a")
			if adopted {
				b.create(req)
			}
			if err := p.Disown(t.Context(), req.ID); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Get(t.Context(), req.ID); !errors.Is(err, provider.ErrNotFound) {
				t.Errorf("get: %v", err)
			}
			if err := p.Delete(t.Context(), req.ID); err != nil {
				t.Fatal(err)
			}
			if pod := b.pod(req.ID); !pod.DeletionTimestamp.IsZero() {
				t.Errorf("the pod goes since %s", pod.DeletionTimestamp)
			}
		})
	}
}

func TestAPodOfTheOperatorBeforeIsDeleted(t *testing.T) {
	b := newBackend(t)
	p, req := b.open(providertest.Cluster), b.request("a")
	b.legacy(req.Name, "a")
	if err := p.Delete(t.Context(), req.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Get(t.Context(), req.ID); !errors.Is(err, provider.ErrNotFound) {
		t.Errorf("get: %v", err)
	}
}

func TestAPodWithAnothersUIDIsNotAdopted(t *testing.T) {
	b := newBackend(t)
	p, req := b.open(providertest.Cluster), b.request("a")
	b.legacy(req.Name, "b") // its name does not follow from its UID
	if _, err := p.Create(t.Context(), req); !errors.Is(err, provider.ErrPermanent) {
		t.Errorf("create: %v", err)
	}
}
