package sweep

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/api/crawl/ref"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// Providers are those of the providers file.
type Providers interface {
	Names() []string
	// Certain says whether the file could be read well; if not, a name that is
	// missing proves nothing.
	Certain() bool
}

// Objects has the activity of the sweep over all objects.
type Objects struct {
	// Cache has the Proxies.
	Cache client.Reader
	// Live reads past the cache, and writes.
	Live      client.Client
	Workflows Workflows
	Providers Providers
	// Shared says that others than this installation keep ProviderHealth in the cluster.
	Shared bool
	Log    *slog.Logger
}

// Sweep starts the workflow of every object that has none, and removes the
// ProviderHealth of providers that left the providers file.
func (o *Objects) Sweep(ctx context.Context) (wire.ObjectSweepResult, error) {
	pruned, unpruned := o.prune(ctx)
	result := wire.ObjectSweepResult{Pruned: pruned}
	all, err := proxies(ctx, o.Cache)
	if err != nil {
		return result, errors.Join(err, unpruned)
	}
	result.Objects = len(all)
	running, err := o.Workflows.ListRunning(ctx)
	if err != nil {
		return result, errors.Join(err, unpruned)
	}
	result.Started, err = o.startAll(ctx, idle(all, running))
	return result, errors.Join(err, unpruned)
}

// idle are the objects whose workflow is not in the list of those that run.
func idle(all []crawl.Proxy, running map[string]bool) []wire.ProxyRef {
	var refs []wire.ProxyRef
	for i := range all {
		if ref := ref.Of(&all[i]); !all[i].Released() && !running[wire.ProxyID(ref)] {
			refs = append(refs, ref)
		}
	}
	return refs
}

// startAll looks at each again, because the list of workflows and the cache may
// both be behind, and starts those that need it.
func (o *Objects) startAll(ctx context.Context, refs []wire.ProxyRef) (started int, err error) {
	begun := make(chan wire.ProxyRef, len(refs))
	_, err = each(ctx, refs, func(ctx context.Context, ref wire.ProxyRef) error {
		needed, err := o.needed(ctx, ref)
		if err != nil || !needed {
			return err
		}
		if err := o.Workflows.Changed(ctx, ref); err != nil {
			return err
		}
		begun <- ref
		return nil
	})
	close(begun)
	for ref := range begun {
		started++
		o.Log.Info("a Proxy had no workflow: started one", "proxy", ref.String())
	}
	return started, err
}

// needed says whether the object is there and its workflow is not.
func (o *Objects) needed(ctx context.Context, ref wire.ProxyRef) (bool, error) {
	running, err := o.Workflows.Running(ctx, ref)
	if running || err != nil {
		return false, err
	}
	var m metav1.PartialObjectMetadata
	m.SetGroupVersionKind(crawl.GroupVersion.WithKind("Proxy"))
	err = o.Live.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, &m)
	if err != nil && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("read Proxy %s: %w", ref, err)
	}
	return err == nil && string(m.UID) == ref.UID, nil
}

// prune removes the ProviderHealth of every provider that is certainly no more.
// Objects without our label are somebody else's.
func (o *Objects) prune(ctx context.Context) (pruned []string, err error) {
	names := o.Providers.Names()
	if o.Shared || !o.Providers.Certain() {
		return nil, nil
	}
	var list crawl.ProviderHealthList
	if err := o.Live.List(ctx, &list, client.MatchingLabels{labelManagedBy: managedBy}); err != nil {
		return nil, fmt.Errorf("list ProviderHealth: %w", err)
	}
	var problems []error
	for i := range list.Items {
		h := &list.Items[i]
		if slices.Contains(names, h.Name) {
			continue
		}
		if err := o.Live.Delete(ctx, h, client.Preconditions{UID: &h.UID}); client.IgnoreNotFound(err) != nil {
			problems = append(problems, fmt.Errorf("remove ProviderHealth %s, whose provider left the providers file: %w", h.Name, err))
			continue
		}
		pruned = append(pruned, h.Name)
	}
	return pruned, errors.Join(problems...)
}
