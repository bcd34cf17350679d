package setstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/api/kube"
)

// maxTries is how often others may come between, at one chunk.
const maxTries = 8

// Put stores a set and returns its digest; the same set has the same digest, and is
// stored once. A Put that fails or is killed leaves no set, and chunks that Evict removes.
func (s *Store) Put(ctx context.Context, addon string, kind Kind, data []byte) (Digest, error) {
	d := s.Digest(addon, kind, data)
	if err := s.put(ctx, addon, kind, d, data); err != nil {
		return "", fmt.Errorf("store the %s of add-on %s: %w", kind, addon, err)
	}
	return d, nil
}

func (s *Store) put(ctx context.Context, addon string, kind Kind, d Digest, data []byte) error {
	stored, err := s.use(ctx, d)
	if stored || err != nil {
		return err
	}
	packed, err := compress(data)
	if err != nil {
		return err
	}
	whole := &set{addon: addon, kind: kind, digest: d, gzip: packed}
	// Chunk 0 is written last and deleted first: where it is, the set is whole.
	for i := whole.chunks() - 1; i >= 0; i-- {
		if err := s.ensure(ctx, whole.chunk(s.Namespace, i, s.Clock.Now())); err != nil {
			return err
		}
	}
	return nil
}

// use marks a set as used now, if it is there and sound.
func (s *Store) use(ctx context.Context, d Digest) (stored bool, err error) {
	_, err = s.Get(ctx, d)
	if err == nil {
		err = s.touch(ctx, chunkName(d, 0))
	}
	switch {
	case errors.Is(err, ErrNotFound), errors.Is(err, ErrDamaged), apierrors.IsNotFound(err):
		return false, nil
	}
	return err == nil, err
}

// ensure has a chunk be stored, whatever a Put that was killed left in its place, and
// whatever a Put or Evict in another process does meanwhile.
func (s *Store) ensure(ctx context.Context, chunk *corev1.Secret) error {
	var err error
	for range maxTries {
		err = s.Client.Create(ctx, chunk.DeepCopy(), kube.FieldOwner)
		if apierrors.IsAlreadyExists(err) {
			err = s.takeOver(ctx, chunk)
		}
		if !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("write Secret %s/%s: %w", chunk.Namespace, chunk.Name, err)
	}
	return nil
}

// takeOver uses the chunk that is there, or deletes it if it is another: then and if it
// vanishes, the error says NotFound.
func (s *Store) takeOver(ctx context.Context, chunk *corev1.Secret) error {
	var there corev1.Secret
	if err := s.Client.Get(ctx, client.ObjectKeyFromObject(chunk), &there); err != nil {
		return err
	}
	if bytes.Equal(there.Data[dataField], chunk.Data[dataField]) && maps.Equal(there.Labels, chunk.Labels) {
		return s.touch(ctx, chunk.Name)
	}
	if err := s.remove(ctx, &there.ObjectMeta, unused(&there.ObjectMeta)); err != nil {
		return err
	}
	return apierrors.NewNotFound(corev1.Resource("secrets"), chunk.Name)
}

// touch tells Evict that a chunk is used.
func (s *Store) touch(ctx context.Context, name string) error {
	o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name}}
	o.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, annotationUsed, s.Clock.Now().UTC().Format(time.RFC3339Nano))
	return s.Client.Patch(ctx, o, client.RawPatch(types.MergePatchType, patch), kube.FieldOwner)
}

// remove deletes a chunk.
func (s *Store) remove(ctx context.Context, chunk *metav1.ObjectMeta, conditions ...client.DeleteOption) error {
	o := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: chunk.Namespace, Name: chunk.Name}}
	return s.Client.Delete(ctx, o, conditions...)
}

// unused is the condition that a chunk was not used or made anew since it was read.
func unused(chunk *metav1.ObjectMeta) client.Preconditions {
	return client.Preconditions{UID: &chunk.UID, ResourceVersion: &chunk.ResourceVersion}
}
