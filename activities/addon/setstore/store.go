// Package setstore keeps what is too large or too secret for a status or a history:
// rendered sets, inventories and plans of add-ons, in Secrets of one namespace. It
// does not know what they mean.
package setstore

import (
	"context"
	"errors"
	"fmt"
	"io"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// +kubebuilder:rbac:namespace=fairlead-system,groups="",resources=secrets,verbs=get;list;create;patch;delete

// The errors of sets.
var (
	// ErrNotFound is that of a set which was never stored, not to its end, or is evicted.
	ErrNotFound = errors.New("there is no such set")
	// ErrDamaged is that of a set which is not what was stored.
	ErrDamaged = errors.New("the stored set is damaged")
	// ErrTooLarge is that of a set which is more than a store takes.
	ErrTooLarge = errors.New("the set is too large")
)

// IsLost says whether a set is not there to be read, and will not be.
func IsLost(err error) bool { return errors.Is(err, ErrNotFound) || errors.Is(err, ErrDamaged) }

// Kind is what a set is.
type Kind string

// The kinds.
const (
	Render    Kind = "render"
	Inventory Kind = "inventory"
	Plan      Kind = "plan"
)

// Digest names a set. It is keyed, so that it tells nothing of a secret value in it.
type Digest string

// Options are those of a store.
type Options struct {
	// Client of the component's own identity. It reads from the API server: the cache of
	// an informer would hold every set in memory, and a Get miss what a Put just made.
	Client client.Client
	// Namespace that the Secrets are in.
	Namespace string
	Clock     clock.PassiveClock
	// Random makes the key, once.
	Random io.Reader
}

// Store keeps sets. It may be used from several goroutines and processes.
type Store struct {
	Options

	keys keys
}

// Open reads the key of the namespace, and makes it the first time.
func Open(ctx context.Context, o Options) (*Store, error) {
	key, err := ensureKey(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("open the store of add-on sets: %w", err)
	}
	keys, err := derive(key)
	if err != nil {
		return nil, fmt.Errorf("open the store of add-on sets: %w", err)
	}
	return &Store{Options: o, keys: keys}, nil
}
