package setstore

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/api/kube"
)

const (
	// KeySecret is the name of the Secret that has the key. Whoever deletes it loses all
	// sets, and every approval that waits.
	KeySecret = "addon-sets-key" // #nosec G101 -- the name of a Secret

	keyField = "key"
	keyBytes = 32
)

// ensureKey returns the key that all processes use: the first Create wins.
func ensureKey(ctx context.Context, o Options) ([]byte, error) {
	name := client.ObjectKey{Namespace: o.Namespace, Name: KeySecret}
	var s corev1.Secret
	err := o.Client.Get(ctx, name, &s)
	if apierrors.IsNotFound(err) {
		if err := makeKey(ctx, o); err != nil {
			return nil, err
		}
		err = o.Client.Get(ctx, name, &s)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key in Secret %s: %w", name, err)
	}
	if got := len(s.Data[keyField]); got != keyBytes {
		return nil, fmt.Errorf("the key %q of Secret %s has %d bytes, not %d: "+
			"restore the Secret, or delete it to lose all stored sets", keyField, name, got, keyBytes)
	}
	return s.Data[keyField], nil
}

func makeKey(ctx context.Context, o Options) error {
	key := make([]byte, keyBytes)
	if _, err := io.ReadFull(o.Random, key); err != nil {
		return fmt.Errorf("draw the key of add-on sets: %w", err)
	}
	fixed := true
	s := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: KeySecret},
		Type:       secretType,
		Immutable:  &fixed,
		Data:       map[string][]byte{keyField: key},
	}
	if err := o.Client.Create(ctx, s, kube.FieldOwner); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("store the key of add-on sets in Secret %s/%s: %w", o.Namespace, KeySecret, err)
	}
	return nil
}

// keys are one for each use: what is equal under one says nothing under another.
type keys struct{ set, value []byte }

func derive(key []byte) (keys, error) {
	set, err := hkdf.Expand(sha256.New, key, "fairlead add-on set v1", keyBytes)
	if err != nil {
		return keys{}, fmt.Errorf("derive the key of sets: %w", err)
	}
	value, err := hkdf.Expand(sha256.New, key, "fairlead secret value v1", keyBytes)
	if err != nil {
		return keys{}, fmt.Errorf("derive the key of values: %w", err)
	}
	return keys{set: set, value: value}, nil
}

// Hash tells whether two secret values are equal, to whoever sees hashes only.
func (s *Store) Hash(b []byte) string { return mac(s.keys.value, b) }

// Digest is what Put gives for the set, which need not be stored. It is over the add-on and
// the kind too, so that no set passes for another's.
func (s *Store) Digest(addon string, kind Kind, data []byte) Digest {
	return Digest(mac(s.keys.set, []byte(addon), []byte(kind), data))
}

// mac is the HMAC of parts, as a text that may be a name and a label.
func mac(key []byte, parts ...[]byte) string {
	h := hmac.New(sha256.New, key)
	for _, part := range parts {
		// With its length in front, a part cannot run into the next.
		_ = binary.Write(h, binary.BigEndian, uint64(len(part))) // a hash takes all
		_, _ = h.Write(part)
	}
	return strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil)))
}
