// Package provider is the contract between Fairlead and what runs proxies: the
// Provider interface, its error classes, instance names and hashes, and the
// providers file. It knows nothing of workflows.
package provider

import (
	"context"
	"time"

	"example.com/fairlead/api/crawl/secrets"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

// Provider runs instances. All methods may be called concurrently and again
// after any failure.
type Provider interface {
	// Places says where the instance of spec may live, best first; never empty. A
	// place names its backend too: an instance of a former one, from before the
	// settings changed, is either reached or an error, never taken for gone.
	Places(ctx context.Context, namespace string, spec *crawl.ProxySpec) ([]string, error)
	// Prepare does slow, shareable groundwork for req, such as fetching a base
	// image. It may be a no-op.
	Prepare(ctx context.Context, req Request) error
	// Create makes the instance named req.Name at req.Place, or returns it if it is
	// there already, whatever its hash; a Halted one is started. It never deletes.
	// It returns ErrQuotaExceeded when the backend refuses for lack of room and
	// ErrPermanent when no retry can help. It must have stopped trying by the
	// deadline of ctx.
	Create(ctx context.Context, req Request) (Instance, error)
	// Get looks at one instance. It returns ErrNotFound when it is gone.
	Get(ctx context.Context, id ID) (Instance, error)
	// Delete starts the deletion of an instance and may return before it is gone:
	// Get tells. An instance that is not there is a success.
	Delete(ctx context.Context, id ID) error
	// Disown takes our marks off an instance, so that nothing of ours finds it again,
	// and leaves it running. An instance that is not there is a success.
	Disown(ctx context.Context, id ID) error
	// List returns every instance of this cluster, whoever's object it belongs to.
	List(ctx context.Context) (Listing, error)
	// Check says, for each target of the backend, whether it can be reached right
	// now. It never fails as a whole.
	Check(ctx context.Context) []TargetStatus
}

// ID says where an instance is.
type ID struct {
	Place string
	Name  string
}

// Owner is the Proxy that an instance belongs to, as written on the instance.
type Owner struct {
	Namespace string
	Name      string
	UID       string
	ClusterID string
}

// Request is an instance to create.
type Request struct {
	ID
	Owner       Owner
	Incarnation int64
	// InsertNumber advances when an insert operation ended in error, so that the
	// next one is another operation.
	InsertNumber int64
	Hash         string
	Spec         crawl.ProxySpec
	// UserData is the resolved cloud-init user data, or nil.
	UserData []byte
	// Credentials that the proxy must ask for, or nil for none.
	Credentials *secrets.Credentials
}

// State is what an instance is doing.
type State string

// The states of an instance.
const (
	// Provisioning instances are on their way up.
	Provisioning State = "Provisioning"
	// Running instances have an address.
	Running State = "Running"
	// Stopped instances are deleted and created again: cattle.
	Stopped State = "Stopped"
	// Halted instances are started again by Create: their host rebooted.
	Halted State = "Halted"
	// Unknown instances could not be judged; the next look decides.
	Unknown State = "Unknown"
)

// Instance is what a provider knows of one instance.
type Instance struct {
	ID
	// ProviderID names the instance in the provider's own words.
	ProviderID  string
	Owner       Owner
	Incarnation int64
	Hash        string
	State       State
	// Message says why the state is what it is, where the provider knows.
	Message string
	// Host and Port are where the proxy answers; set when Running.
	Host      string
	Port      int32
	CreatedAt time.Time
}

// Listing is one look at all instances of a provider.
type Listing struct {
	Instances []Instance
	// Incomplete names the targets that did not answer, with the reason; nothing
	// is known of what they hold.
	Incomplete map[string]string
}

// TargetStatus is the verdict on one target of a backend, such as a host.
type TargetStatus struct {
	Name    string
	Ready   bool
	Reason  string
	Message string
	Details map[string]string
}
