package setstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// keepSets and keepBytes (gzipped) are what Evict leaves of an add-on.
	keepSets  = 10
	keepBytes = 4 << 20
	// grace is for a Put whose digest nobody wrote down yet, and for one that still runs.
	grace = 10 * time.Minute
)

// Evict deletes the oldest sets of an add-on beyond ten or 4 MiB, and what killed Puts
// left. Sets in keep stay, and those that were stored in the last minutes.
func (s *Store) Evict(ctx context.Context, addon string, keep []Digest) error {
	sets, err := s.list(ctx, addon)
	if err != nil {
		return fmt.Errorf("evict sets of add-on %s: %w", addon, err)
	}
	var failed []error
	for _, old := range evictable(sets, keep, s.Clock.Now()) {
		failed = append(failed, s.evict(ctx, old))
	}
	if err := errors.Join(failed...); err != nil {
		return fmt.Errorf("evict sets of add-on %s: %w", addon, err)
	}
	return nil
}

// Drop deletes all sets of an add-on, which is gone itself.
func (s *Store) Drop(ctx context.Context, addon string) error {
	sets, err := s.list(ctx, addon)
	if err != nil {
		return fmt.Errorf("delete the sets of add-on %s: %w", addon, err)
	}
	var failed []error
	for _, each := range sets {
		for i := range each.chunks {
			failed = append(failed, client.IgnoreNotFound(s.remove(ctx, &each.chunks[i])))
		}
	}
	if err := errors.Join(failed...); err != nil {
		return fmt.Errorf("delete the sets of add-on %s: %w", addon, err)
	}
	return nil
}

// listed is a set as a list of its chunks shows it.
type listed struct {
	digest Digest
	// chunks by number; without number 0, the set is none.
	chunks []metav1.ObjectMeta
	bytes  int
	used   time.Time
}

func (l *listed) whole() bool { return l.chunks[0].Labels[labelChunk] == "0" }

// list reads labels and annotations only: sets are large.
func (s *Store) list(ctx context.Context, addon string) ([]*listed, error) {
	var secrets metav1.PartialObjectMetadataList
	secrets.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := s.Client.List(ctx, &secrets, client.InNamespace(s.Namespace), client.MatchingLabels{labelAddon: addon}); err != nil {
		return nil, fmt.Errorf("list Secrets of namespace %s: %w", s.Namespace, err)
	}
	byDigest := map[Digest]*listed{}
	var sets []*listed
	for i := range secrets.Items {
		chunk := secrets.Items[i].ObjectMeta
		d := Digest(chunk.Labels[labelDigest])
		if byDigest[d] == nil {
			byDigest[d] = &listed{digest: d}
			sets = append(sets, byDigest[d])
		}
		byDigest[d].add(chunk)
	}
	for _, each := range sets {
		slices.SortFunc(each.chunks, func(a, b metav1.ObjectMeta) int { return cmp.Compare(number(a), number(b)) })
	}
	return sets, nil
}

func (l *listed) add(chunk metav1.ObjectMeta) {
	l.chunks = append(l.chunks, chunk)
	// What is no number or time was altered, and counts as nothing.
	if bytes, err := strconv.Atoi(chunk.Annotations[annotationBytes]); err == nil {
		l.bytes = max(l.bytes, bytes)
	}
	if used, err := time.Parse(time.RFC3339Nano, chunk.Annotations[annotationUsed]); err == nil && used.After(l.used) {
		l.used = used
	}
}

func number(chunk metav1.ObjectMeta) int {
	n, err := strconv.Atoi(chunk.Labels[labelChunk])
	if err != nil {
		return maxChunks
	}
	return n
}

// evictable returns the sets that may go: first those that must stay take their room,
// then the newest.
func evictable(sets []*listed, keep []Digest, now time.Time) []*listed {
	slices.SortFunc(sets, func(a, b *listed) int {
		return cmp.Or(b.used.Compare(a.used), cmp.Compare(a.digest, b.digest))
	})
	var free, gone []*listed
	count, bytes := 0, 0
	for _, each := range sets {
		switch {
		case slices.Contains(keep, each.digest), now.Sub(each.used) < grace:
			count, bytes = count+1, bytes+each.bytes
		case !each.whole():
			gone = append(gone, each)
		default:
			free = append(free, each)
		}
	}
	for i, each := range free {
		if count, bytes = count+1, bytes+each.bytes; count > keepSets || bytes > keepBytes {
			return append(gone, free[i:]...)
		}
	}
	return gone
}

// evict deletes the chunks of a set, number 0 first. A set that was used meanwhile stays.
func (s *Store) evict(ctx context.Context, old *listed) error {
	for i := range old.chunks {
		err := s.remove(ctx, &old.chunks[i], unused(&old.chunks[i]))
		if apierrors.IsConflict(err) {
			return nil
		}
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete Secret %s/%s: %w", s.Namespace, old.chunks[i].Name, err)
		}
	}
	return nil
}
