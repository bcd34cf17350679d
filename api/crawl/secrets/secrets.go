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

// CAKey is the key of the Secret that healthCheck.caSecretRef names.
const CAKey = "ca.crt"

// Credentials are a proxy's own user name and password.
type Credentials struct {
	Username string
	Password string
}

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

// ForProxy returns the credentials that p asks its clients for, nil when it asks
// for none.
func ForProxy(ctx context.Context, r client.Reader, p *crawl.Proxy) (*Credentials, error) {
	if p.Spec.AuthSecretRef == nil {
		return nil, nil
	}
	name := p.Spec.AuthSecretRef.Name
	s, err := read(ctx, r, p.Namespace, name)
	if err != nil {
		return nil, err
	}
	user, err := key(s, crawl.SecretKeyUsername)
	if err != nil {
		return nil, err
	}
	password, err := key(s, crawl.SecretKeyPassword)
	if err != nil {
		return nil, err
	}
	return &Credentials{Username: string(user), Password: string(password)}, nil
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
		s, err := read(ctx, r, p.Namespace, name)
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
	s, err := read(ctx, r, namespace, name)
	if err != nil {
		return nil, err
	}
	return key(s, k)
}

func read(ctx context.Context, r client.Reader, namespace, name string) (*corev1.Secret, error) {
	var s corev1.Secret
	err := r.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, &s)
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("%w: Secret %s/%s does not exist: create it", ErrUnusable, namespace, name)
	case err != nil:
		return nil, fmt.Errorf("read Secret %s/%s: %w", namespace, name, err)
	case !Usable(s.Labels):
		return nil, fmt.Errorf(`%w: Secret %s/%s lacks the label %s: "true"`, ErrUnusable, namespace, name, crawl.LabelCloudInit)
	}
	return &s, nil
}

func key(s *corev1.Secret, k string) ([]byte, error) {
	v, ok := s.Data[k]
	if !ok || len(v) == 0 {
		return nil, fmt.Errorf("%w: Secret %s/%s has no key %q", ErrUnusable, s.Namespace, s.Name, k)
	}
	return v, nil
}
