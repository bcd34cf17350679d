// Package secrets reads the Secrets that a Proxy refers to. Only Secrets that
// carry the label crawl.example.com/cloud-init: "true" are read: a Proxy must not
// be a way to any other Secret of its namespace.
package secrets

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

// ErrUnusable is wrapped by errors that only a change of a Secret or of the Proxy
// can mend.
var ErrUnusable = errors.New("secret cannot be used")

// ErrCredentials is wrapped by those of them that are about authSecretRef.
var ErrCredentials = fmt.Errorf("credentials of the proxy: %w", ErrUnusable)

// CAKey is the key of the Secret that healthCheck.caSecretRef names.
const CAKey = "ca.crt"

// Usable says whether a Proxy may read the Secret with these labels.
func Usable(labels map[string]string) bool { return labels[crawl.LabelCloudInit] == "true" }

// UserData returns the resolved cloud-init user data of p, nil when it has none.
func UserData(ctx context.Context, r client.Reader, p *crawl.Proxy) ([]byte, error) {
	c := p.Spec.CloudInit
	switch {
	case c == nil:
		return nil, nil
	case c.SecretRef == nil:
		return []byte(c.UserData), nil
	}
	return value(ctx, r, p.Namespace, c.SecretRef.Name, c.SecretRef.Key)
}

// CA returns the PEM certificates that sign p's https probe targets, nil for the
// system's own.
func CA(ctx context.Context, r client.Reader, p *crawl.Proxy) ([]byte, error) {
	h := p.Spec.HealthCheck
	if h == nil || h.CASecretRef == nil {
		return nil, nil
	}
	return value(ctx, r, p.Namespace, h.CASecretRef.Name, CAKey)
}

// Versions returns the resourceVersion of each usable Secret that p refers to, as
// Proxy.Inputs takes them.
func Versions(ctx context.Context, r client.Reader, p *crawl.Proxy) (map[string]string, error) {
	versions := map[string]string{}
	for _, name := range p.SecretNames() {
		s, err := read(ctx, r, p.Namespace, name, ErrUnusable)
		switch {
		case errors.Is(err, ErrUnusable):
		case err != nil:
			return nil, err
		default:
			versions[name] = s.ResourceVersion
		}
	}
	return versions, nil
}

func value(ctx context.Context, r client.Reader, namespace, name, k string) ([]byte, error) {
	s, err := read(ctx, r, namespace, name, ErrUnusable)
	if err != nil {
		return nil, err
	}
	return key(s, k, ErrUnusable)
}

// read wraps unusable when only a change of the Secret or of its label can help.
func read(ctx context.Context, r client.Reader, namespace, name string, unusable error) (*corev1.Secret, error) {
	var s corev1.Secret
	err := r.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, &s)
	switch {
	case err != nil && !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("read Secret %s/%s: %w", namespace, name, err)
	case err != nil || !Usable(s.Labels):
		// One text for both: a cache has labelled Secrets only, and nobody hears of one
		// that is made without the label.
		return nil, fmt.Errorf(`%w: Secret %s/%s does not exist or lacks the label %s: "true"`, unusable, namespace, name, crawl.LabelCloudInit)
	}
	return &s, nil
}

func key(s *corev1.Secret, k string, unusable error) ([]byte, error) {
	v, ok := s.Data[k]
	if !ok || len(v) == 0 {
		return nil, fmt.Errorf("%w: Secret %s/%s has no key %q", unusable, s.Namespace, s.Name, k)
	}
	return v, nil
}
