package setstore

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// secretType keeps the Secrets out of views of others.
	secretType corev1.SecretType = "rendimiento.ai/addon-set" // #nosec G101 -- the name of a type

	labelAddon  = "sets.rendimiento.ai/addon"
	labelKind   = "sets.rendimiento.ai/kind"
	labelDigest = "sets.rendimiento.ai/digest"
	// labelChunk is the number of a chunk, from 0, and labelChunks how many there are.
	labelChunk  = "sets.rendimiento.ai/chunk"
	labelChunks = "sets.rendimiento.ai/chunks"
	// annotationBytes is what the whole set takes, gzipped.
	annotationBytes = "sets.rendimiento.ai/bytes"
	// annotationUsed is when the set was stored last. It changes the resourceVersion, which
	// keeps a set from an Evict that thought it old.
	annotationUsed = "sets.rendimiento.ai/used"

	dataField = "set.gz"
	// chunkBytes leaves room in what a Secret may hold, which is 1 MiB.
	chunkBytes = 900 << 10
	maxChunks  = 32
	// MaxBytes is the most that a set may have, not gzipped.
	MaxBytes = 64 << 20
)

// set is one as it is stored: gzipped, and in how many chunks.
type set struct {
	addon  string
	kind   Kind
	digest Digest
	gzip   []byte
}

func (s *set) chunks() int { return (len(s.gzip) + chunkBytes - 1) / chunkBytes }

// chunk makes the Secret of chunk i.
func (s *set) chunk(namespace string, i int, now time.Time) *corev1.Secret {
	fixed := true
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace,
			Name:      chunkName(s.digest, i),
			Labels: map[string]string{
				labelAddon: s.addon, labelKind: string(s.kind), labelDigest: string(s.digest),
				labelChunk: strconv.Itoa(i), labelChunks: strconv.Itoa(s.chunks()),
			},
			Annotations: map[string]string{
				annotationBytes: strconv.Itoa(len(s.gzip)), annotationUsed: now.UTC().Format(time.RFC3339Nano),
			},
		},
		Type:      secretType,
		Immutable: &fixed,
		Data:      map[string][]byte{dataField: s.gzip[i*chunkBytes : min((i+1)*chunkBytes, len(s.gzip))]},
	}
}

func chunkName(d Digest, i int) string { return fmt.Sprintf("addon-set-%s-%d", d, i) }

func compress(data []byte) ([]byte, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%w: it has %d MiB, and may have %d", ErrTooLarge, len(data)>>20, MaxBytes>>20)
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	if out.Len() > maxChunks*chunkBytes {
		return nil, fmt.Errorf("%w: gzipped it has %d MiB, and may have %d", ErrTooLarge, out.Len()>>20, maxChunks*chunkBytes>>20)
	}
	return out.Bytes(), nil
}

// expand gunzips no more than a set may have: a small Secret can expand to any size.
func expand(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("gunzip: %w", err)
	}
	plain, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("gunzip: %w", err)
	}
	if len(plain) > MaxBytes {
		return nil, fmt.Errorf("it expands to more than %d MiB", MaxBytes>>20)
	}
	return plain, nil
}
