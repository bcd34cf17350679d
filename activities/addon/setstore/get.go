package setstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// digestLen is that of a SHA-256 in base32.
const digestLen = 52

// remedy is what to do about a set that cannot be read.
const remedy = "sync the add-on again"

// Get returns a set as it was stored, ErrNotFound or ErrDamaged.
func (s *Store) Get(ctx context.Context, d Digest) ([]byte, error) {
	first, n, err := s.first(ctx, d)
	if err != nil {
		return nil, err
	}
	packed, err := s.join(ctx, d, first, n)
	if err != nil {
		return nil, err
	}
	where := fmt.Sprintf("Secret %s/%s", s.Namespace, first.Name)
	if n > 1 {
		where = fmt.Sprintf("one of the Secrets %s/%s to %d", s.Namespace, first.Name, n-1)
	}
	plain, err := expand(packed)
	if err != nil {
		return nil, s.damaged(d, fmt.Sprintf("%s was altered: %v", where, err))
	}
	if s.Digest(first.Labels[labelAddon], Kind(first.Labels[labelKind]), plain) != d {
		return nil, s.damaged(d, fmt.Sprintf("%s was altered, or the key in Secret %s was", where, KeySecret))
	}
	return plain, nil
}

// first reads chunk 0, which says how many chunks there are.
func (s *Store) first(ctx context.Context, d Digest) (chunk *corev1.Secret, n int, err error) {
	if !d.valid() {
		return nil, 0, fmt.Errorf("read set %q: %w: that is no digest", d, ErrNotFound)
	}
	chunk, err = s.read(ctx, d, 0)
	if apierrors.IsNotFound(err) {
		return nil, 0, fmt.Errorf("read Secret %s/%s: %w: it was never stored, or is evicted; %s", s.Namespace, chunkName(d, 0), ErrNotFound, remedy)
	}
	if err != nil {
		return nil, 0, err
	}
	n, err = strconv.Atoi(chunk.Labels[labelChunks])
	if err != nil || n < 1 || n > maxChunks {
		return nil, 0, s.damaged(d, fmt.Sprintf("the label %s of Secret %s/%s is %q", labelChunks, s.Namespace, chunk.Name, chunk.Labels[labelChunks]))
	}
	return chunk, n, nil
}

func (s *Store) join(ctx context.Context, d Digest, first *corev1.Secret, n int) ([]byte, error) {
	packed := first.Data[dataField]
	for i := 1; i < n; i++ {
		next, err := s.read(ctx, d, i)
		if apierrors.IsNotFound(err) {
			return nil, s.damaged(d, fmt.Sprintf("Secret %s/%s is missing", s.Namespace, chunkName(d, i)))
		}
		if err != nil {
			return nil, err
		}
		packed = append(packed, next.Data[dataField]...)
	}
	return packed, nil
}

func (s *Store) read(ctx context.Context, d Digest, i int) (*corev1.Secret, error) {
	var chunk corev1.Secret
	if err := s.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: chunkName(d, i)}, &chunk); err != nil {
		return nil, fmt.Errorf("read Secret %s/%s: %w", s.Namespace, chunkName(d, i), err)
	}
	return &chunk, nil
}

func (s *Store) damaged(d Digest, why string) error {
	return fmt.Errorf("%w: %s: delete what is left (kubectl delete secret -n %s -l %s=%s); %s", ErrDamaged, why, s.Namespace, labelDigest, d, remedy)
}

// valid keeps a text that people may have edited from naming other Secrets.
func (d Digest) valid() bool {
	return len(d) == digestLen && strings.Trim(string(d), "0123456789abcdefghijklmnopqrstuv") == ""
}
