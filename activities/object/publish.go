package object

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fairlead/activities/outcome"
	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/kube"
	"example.com/fairlead/temporal/wire"
)

// Publish writes a status, fenced by its sequence: a lost reply may make it run
// twice, and a newer writer may have been here.
func (a *Activities) Publish(ctx context.Context, in wire.PublishInput) error {
	p, found, err := a.get(ctx, in.Proxy)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("%w: Proxy %s is gone", outcome.ErrSuperseded, in.Proxy)
	}
	status := toStatus(in.Status)
	switch {
	case p.Status.Sequence > status.Sequence:
		return fmt.Errorf("%w: Proxy %s has status %d, this is %d", outcome.ErrSuperseded, in.Proxy, p.Status.Sequence, status.Sequence)
	case p.Status.Sequence == status.Sequence && !equality.Semantic.DeepEqual(p.Status, status):
		return fmt.Errorf("%w: another status %d of Proxy %s is stored", outcome.ErrSuperseded, status.Sequence, in.Proxy)
	case p.Status.Sequence == status.Sequence:
		return nil
	}
	before := p.Status
	p.Status = status
	err = a.Client.Status().Update(ctx, p, kube.FieldOwner)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%w: Proxy %s is gone", outcome.ErrSuperseded, in.Proxy)
	case apierrors.IsInvalid(err), apierrors.IsRequestEntityTooLargeError(err):
		return fmt.Errorf("write the status of Proxy %s: %w: %w", in.Proxy, err, provider.ErrPermanent)
	case err != nil: // a conflict reads again and judges anew
		return fmt.Errorf("write the status of Proxy %s: %w", in.Proxy, err)
	}
	// A status that was stored already has been told.
	a.Events.Tell(p, changes(&before, &status)...)
	return nil
}

func toStatus(w wire.ProxyStatus) crawl.ProxyStatus {
	s := crawl.ProxyStatus{
		Phase:               crawl.Phase(w.Phase),
		ObservedGeneration:  w.ObservedGeneration,
		ObservedInputs:      w.ObservedInputs,
		ObservedReplace:     w.ObservedReplace,
		Sequence:            w.Sequence,
		ProviderID:          w.ProviderID,
		IP:                  w.Host,
		Port:                w.Port,
		SpecHash:            w.SpecHash,
		CredentialsVersion:  w.CredentialsVersion,
		LatencyMillis:       w.LatencyMillis,
		LastHealthCheckTime: toTime(w.ProbedAt),
		ExitIP:              w.ExitIP,
	}
	for _, t := range w.Recreations {
		s.Recreations = append(s.Recreations, metav1.NewTime(t))
	}
	for _, e := range w.Ledger {
		s.Instances = append(s.Instances, crawl.InstanceRecord{
			Provider: e.Provider, Place: e.Place, Name: e.Name, Incarnation: e.Incarnation,
			Hash: e.Hash, InsertNumber: e.InsertNumber, AttemptUntil: toTime(e.AttemptUntil),
		})
	}
	for _, c := range w.Conditions {
		s.Conditions = append(s.Conditions, metav1.Condition{
			Type: c.Type, Status: metav1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message,
			ObservedGeneration: w.ObservedGeneration, LastTransitionTime: metav1.NewTime(c.Since),
		})
	}
	return s
}

func fromStatus(s *crawl.ProxyStatus) wire.ProxyStatus {
	w := wire.ProxyStatus{
		Phase:              string(s.Phase),
		ObservedGeneration: s.ObservedGeneration,
		ObservedInputs:     s.ObservedInputs,
		ObservedReplace:    s.ObservedReplace,
		Sequence:           s.Sequence,
		ProviderID:         s.ProviderID,
		Host:               s.IP,
		Port:               s.Port,
		SpecHash:           s.SpecHash,
		CredentialsVersion: s.CredentialsVersion,
		LatencyMillis:      s.LatencyMillis,
		ProbedAt:           fromTime(s.LastHealthCheckTime),
		ExitIP:             s.ExitIP,
	}
	for _, t := range s.Recreations {
		w.Recreations = append(w.Recreations, t.UTC())
	}
	for _, r := range s.Instances {
		w.Ledger = append(w.Ledger, fromRecord(r))
	}
	for _, c := range s.Conditions {
		w.Conditions = append(w.Conditions, wire.Condition{
			Type: c.Type, Status: string(c.Status), Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime.UTC(),
		})
	}
	return w
}

func fromRecord(r crawl.InstanceRecord) wire.Entry {
	return wire.Entry{
		Provider: r.Provider, Place: r.Place, Name: r.Name, Incarnation: r.Incarnation,
		Hash: r.Hash, InsertNumber: r.InsertNumber, AttemptUntil: fromTime(r.AttemptUntil),
	}
}

func toTime(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	// The API server keeps seconds; so does what is compared with it.
	m := metav1.NewTime(t.Truncate(time.Second))
	return &m
}

func fromTime(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
