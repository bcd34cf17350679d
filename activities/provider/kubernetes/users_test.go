package kubernetes_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"example.com/fairlead/activities/provider/providertest"
	"example.com/fairlead/api/crawl/secrets"
	"example.com/fairlead/deploy/local/localtest"
)

// The garbage collector removes the Secret of a former pod while a call replaces it.
func TestAFormerSecretThatVanishesMeanwhileIsReplaced(t *testing.T) {
	remove := func(ctx context.Context, c client.Client, o client.Object) {
		secret := &corev1.Secret{}
		secret.Namespace, secret.Name = o.GetNamespace(), o.GetName()
		if err := c.Delete(ctx, secret); err != nil {
			t.Error(err)
		}
	}
	for when, funcs := range map[string]interceptor.Funcs{
		"before it is looked at": {Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, ok := o.(*corev1.Secret); ok {
				o.SetNamespace(key.Namespace)
				o.SetName(key.Name)
				remove(ctx, c, o)
			}
			return c.Get(ctx, key, o, opts...)
		}},
		"before it is deleted": {Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if _, ok := o.(*corev1.Secret); ok {
				remove(ctx, c, o)
			}
			return c.Delete(ctx, o, opts...)
		}},
	} {
		t.Run(when, func(t *testing.T) {
			b := newBackend(t)
			req := b.request("a")
			req.Credentials = &secrets.Credentials{Username: "crawler", Password: "canary"}
			b.create(req)
			if err := b.client.Delete(t.Context(), b.pod(req.ID), client.GracePeriodSeconds(0)); err != nil {
				t.Fatal(err)
			}
			watching, err := client.NewWithWatch(localtest.ControlPlane(t), client.Options{})
			if err != nil {
				t.Fatal(err)
			}
			racing := &backend{t: t, client: interceptor.NewClient(watching, funcs), namespace: b.namespace}
			if _, err := racing.open(providertest.Cluster).Create(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			pod := b.pod(req.ID)
			var s corev1.Secret
			if err := b.client.Get(t.Context(), client.ObjectKeyFromObject(pod), &s); err != nil {
				t.Fatalf("the pod waits for ever for its Secret: %v", err)
			}
			if len(s.OwnerReferences) != 1 || s.OwnerReferences[0].UID != pod.UID {
				t.Errorf("the owners of the Secret are %v", s.OwnerReferences)
			}
		})
	}
}
