package sweep

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

const (
	// pageSize bounds one answer of the API server.
	pageSize = 500
	// deleteTimeout bounds the call that deletes: it is not cut in the middle.
	deleteTimeout = 30 * time.Second
)

// DeleteOrphan deletes a confirmed orphan, if all that made it one is still true by
// live reads. Whatever cannot be read, or is otherwise, saves it.
func (p *Provider) DeleteOrphan(ctx context.Context, in wire.OrphanInput) (wire.OrphanOutcome, error) {
	inst, reason, err := p.orphaned(ctx, in.Suspect)
	switch {
	case err != nil:
		p.Metrics.orphan(p.Name, "failed")
		return wire.OrphanOutcome{}, fmt.Errorf("look again at orphan %s: %w", in.Suspect.Name, err)
	case reason != "":
		p.Metrics.orphan(p.Name, "left")
		p.Log.Info("an orphan is left alone", "provider", p.Name, "place", in.Suspect.Place, "instance", in.Suspect.Name, "uid", in.Suspect.UID, "reason", reason)
		return wire.OrphanOutcome{Reason: reason}, nil
	}
	log := p.Log.With("provider", p.Name, "providerID", inst.ProviderID, "uid", inst.Owner.UID, "proxy", inst.Owner.Namespace+"/"+inst.Owner.Name, "created", inst.CreatedAt)
	log.Warn("deleting an instance whose Proxy is gone")
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTimeout)
	defer cancel()
	if err := p.Provider.Delete(call, inst.ID); err != nil {
		p.Metrics.orphan(p.Name, "failed")
		return wire.OrphanOutcome{}, fmt.Errorf("delete orphan %s: %w", in.Suspect.Name, err)
	}
	p.Metrics.orphan(p.Name, "deleted")
	return wire.OrphanOutcome{Deleted: true}, nil
}

// orphaned looks at everything anew, the instance and its workflow last. reason
// says why s may not be deleted.
func (p *Provider) orphaned(ctx context.Context, s wire.Suspect) (inst provider.Instance, reason string, err error) {
	if p.Orphans.Mode != Delete {
		return inst, "--orphans is " + string(p.Orphans.Mode), nil
	}
	cluster, err := p.Cluster.ID(ctx, p.Live)
	if err != nil {
		return inst, "", err
	}
	if owned, err := p.owned(ctx, s.UID); owned || err != nil {
		return inst, "its Proxy exists", err
	}
	inst, err = p.Provider.Get(ctx, provider.ID{Place: s.Place, Name: s.Name})
	switch {
	case errors.Is(err, provider.ErrNotFound):
		return inst, "it is gone", nil
	case err != nil:
		return inst, "", err
	}
	if reason := p.another(inst, s, cluster); reason != "" {
		return inst, reason, nil
	}
	owner := wire.ProxyRef{Namespace: inst.Owner.Namespace, Name: inst.Owner.Name, UID: inst.Owner.UID}
	running, err := p.Workflows.Running(ctx, owner)
	if running && err == nil {
		// It may sleep: nobody tells it of an object that went while nobody watched.
		err = p.Workflows.Observed(ctx, owner)
	}
	if running || err != nil {
		return inst, "its workflow is open", err
	}
	return inst, "", nil
}

// another says how inst is not the orphan that was suspected; empty for it is.
func (p *Provider) another(inst provider.Instance, s wire.Suspect, cluster string) string {
	switch o := inst.Owner; {
	case o.UID != s.UID:
		return "it belongs to another Proxy now"
	case o.ClusterID != cluster:
		return fmt.Sprintf("it belongs to cluster %q, this is %q", o.ClusterID, cluster)
	case !p.Orphans.inScope(o.Namespace):
		return fmt.Sprintf("its Proxy is of namespace %q, which is not ours (--namespace)", o.Namespace)
	case inst.Incarnation != s.Incarnation:
		return "it is another incarnation now"
	case !p.Orphans.oldEnough(inst, p.now()):
		return "it is not old enough"
	case o.Namespace == "" || o.Name == "": // its workflow could not be asked
		return "it does not say whose it is"
	}
	return ""
}

// owned says whether any Proxy has this UID, by a live list of all that are ours.
func (p *Provider) owned(ctx context.Context, uid string) (bool, error) {
	namespaces := p.Orphans.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	for _, ns := range namespaces {
		if found, err := p.ownedIn(ctx, ns, uid); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

func (p *Provider) ownedIn(ctx context.Context, namespace, uid string) (bool, error) {
	options := &client.ListOptions{Namespace: namespace, Limit: pageSize}
	for {
		var page metav1.PartialObjectMetadataList
		page.SetGroupVersionKind(crawl.GroupVersion.WithKind("ProxyList"))
		if err := p.Live.List(ctx, &page, options); err != nil {
			return false, fmt.Errorf("list all Proxies: %w", err)
		}
		for i := range page.Items {
			if string(page.Items[i].UID) == uid {
				return true, nil
			}
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return false, nil
		}
	}
}
