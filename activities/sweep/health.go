package sweep

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/kube"
	"example.com/fairlead/temporal/conn"
)

// Bounds on a ProviderHealth: the largest is some 700 KiB.
const (
	maxTargets = 256
	maxName    = 253
	maxReason  = 64
	maxMessage = 512
	maxDetails = 16
	maxDetail  = 128
)

// The label that tells who writes an object, and its value on ours: only those are
// ever removed.
const (
	labelManagedBy = "app.kubernetes.io/managed-by"
	managedBy      = "fairlead"
)

// check asks the provider whether it can be reached, and tells metrics, the log and
// the ProviderHealth object of the provider.
func (p *Provider) check(ctx context.Context) ([]provider.TargetStatus, error) {
	checking, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	start := p.now()
	targets := unique(p.Provider.Check(checking))
	end := p.now()
	p.Metrics.checked(p.Name, targets, end.Sub(start), end)
	return targets, p.publish(ctx, targets, end)
}

// unique keeps one verdict for each target, the worst, in alphabetical order.
func unique(targets []provider.TargetStatus) []provider.TargetStatus {
	sorted := slices.SortedStableFunc(slices.Values(targets), func(a, b provider.TargetStatus) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), boolOrder(a.Ready, b.Ready))
	})
	return slices.CompactFunc(sorted, func(a, b provider.TargetStatus) bool { return a.Name == b.Name })
}

// boolOrder puts false first.
func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// publish writes the status of the ProviderHealth. Nobody else does, so that a
// conflict is a sweep that went on after its time.
func (p *Provider) publish(ctx context.Context, targets []provider.TargetStatus, at time.Time) error {
	h, err := p.healthObject(ctx)
	if err != nil {
		return fmt.Errorf("read, make or label ProviderHealth %s: %w", p.Name, err)
	}
	former := h.Status
	h.Status = healthStatus(former, p.Type, targets, at)
	p.tellTransitions(former, h.Status)
	if err := p.Live.Status().Update(ctx, h, kube.FieldOwner); err != nil {
		return fmt.Errorf("write ProviderHealth %s: %w", p.Name, err)
	}
	return nil
}

// healthObject is the ProviderHealth of the provider. One without a label was made by
// hand, and becomes ours.
func (p *Provider) healthObject(ctx context.Context) (*crawl.ProviderHealth, error) {
	h := &crawl.ProviderHealth{}
	err := p.Live.Get(ctx, client.ObjectKey{Name: p.Name}, h)
	switch {
	case apierrors.IsNotFound(err):
		h = &crawl.ProviderHealth{ObjectMeta: metav1.ObjectMeta{Name: p.Name, Labels: map[string]string{labelManagedBy: managedBy}}}
		return h, p.Live.Create(ctx, h, kube.FieldOwner)
	case err != nil || h.Labels[labelManagedBy] != "":
		return h, err
	}
	before := h.DeepCopy()
	if h.Labels == nil {
		h.Labels = map[string]string{}
	}
	h.Labels[labelManagedBy] = managedBy
	return h, p.Live.Patch(ctx, h, client.MergeFrom(before), kube.FieldOwner)
}

// healthStatus is what the check says, with the times at which targets last came
// or went.
func healthStatus(former crawl.ProviderHealthStatus, kind string, targets []provider.TargetStatus, at time.Time) crawl.ProviderHealthStatus {
	now := metav1.NewTime(at.Truncate(time.Second))
	s := crawl.ProviderHealthStatus{Type: kind, LastCheckTime: &now, Ready: metav1.ConditionUnknown}
	up := 0
	for _, t := range targets {
		if t.Ready {
			up++
		}
	}
	if len(targets) > 0 {
		s.Ready = metav1.ConditionFalse
		if up == len(targets) {
			s.Ready = metav1.ConditionTrue
		}
	}
	s.Summary = fmt.Sprintf("%d/%d", up, len(targets))
	for _, t := range shown(targets) {
		h := targetHealth(t)
		h.LastTransitionTime = &now
		if was := find(former.Targets, h.Name); was != nil && was.Ready == h.Ready && was.LastTransitionTime != nil {
			h.LastTransitionTime = was.LastTransitionTime
		}
		s.Targets = append(s.Targets, h)
	}
	return s
}

// shown are the targets that fit; those that are down come first.
func shown(targets []provider.TargetStatus) []provider.TargetStatus {
	if len(targets) <= maxTargets {
		return targets
	}
	worst := slices.SortedStableFunc(slices.Values(targets), func(a, b provider.TargetStatus) int { return boolOrder(a.Ready, b.Ready) })
	return unique(worst[:maxTargets])
}

func targetHealth(t provider.TargetStatus) crawl.TargetHealth {
	h := crawl.TargetHealth{
		Name: cut(t.Name, maxName), Ready: t.Ready,
		Reason: cut(t.Reason, maxReason), Message: cut(conn.Scrub(t.Message), maxMessage),
	}
	for _, key := range slices.Sorted(maps.Keys(t.Details)) {
		if h.Details == nil {
			h.Details = map[string]string{}
		}
		if len(h.Details) == maxDetails {
			break
		}
		h.Details[cut(key, maxReason)] = cut(conn.Scrub(t.Details[key]), maxDetail)
	}
	return h
}

func find(targets []crawl.TargetHealth, name string) *crawl.TargetHealth {
	for i := range targets {
		if targets[i].Name == name {
			return &targets[i]
		}
	}
	return nil
}

// tellTransitions logs what changed since the last check.
func (p *Provider) tellTransitions(former, now crawl.ProviderHealthStatus) {
	for _, t := range now.Targets {
		was := find(former.Targets, t.Name)
		log := p.Log.With("provider", p.Name, "target", t.Name, "reason", t.Reason)
		switch {
		case !t.Ready && (was == nil || was.Ready || was.Reason != t.Reason):
			log.Warn("provider target not ready", "message", t.Message)
		case t.Ready && was != nil && !was.Ready:
			log.Info("provider target ready")
		}
	}
}
