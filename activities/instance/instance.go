// Package instance turns provider calls into activities. It decides nothing: it
// resolves references, sets deadlines and translates answers.
package instance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/desired"
	"example.com/fairlead/activities/outcome"
	"example.com/fairlead/activities/provider"
	"example.com/fairlead/api/crawl/secrets"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// heartbeatEvery is well under the heartbeat timeout of Create and Delete.
const heartbeatEvery = 5 * time.Second

// Activities are the activities on the instances of one provider.
type Activities struct {
	// Client reads the object and its Secrets live.
	Client   client.Reader
	Provider provider.Provider
}

// Create makes the instance of in.Entry, or finds it there.
func (a *Activities) Create(ctx context.Context, in wire.InstanceInput) (wire.Instance, error) {
	req, err := a.request(ctx, in)
	if err != nil {
		return wire.Instance{}, err
	}
	defer heartbeat(ctx)()
	// Half a Create is worse than a whole one: neither a cancelled workflow nor a
	// stopping worker cuts it, only the deadline that the ledger was told.
	call, cancel := context.WithDeadline(context.WithoutCancel(ctx), attemptDeadline(ctx, in.Entry))
	defer cancel()
	if err := a.Provider.Prepare(call, req); err != nil {
		return wire.Instance{}, fmt.Errorf("prepare instance %s: %w", in.Entry.Name, err)
	}
	inst, err := a.Provider.Create(call, req)
	if err != nil {
		return wire.Instance{}, fmt.Errorf("create instance %s: %w", in.Entry.Name, err)
	}
	made := toWire(ctx, inst)
	made.Run = activity.GetInfo(ctx).WorkflowExecution.RunID
	return made, nil
}

// attemptDeadline is when this attempt must have stopped by itself.
func attemptDeadline(ctx context.Context, e wire.Entry) time.Time {
	info := activity.GetInfo(ctx)
	deadline := info.StartedTime.Add(wire.CreateAttempt)
	// The slack is for clocks that are apart.
	if latest := e.AttemptUntil.Add(-wire.AttemptSlack); !e.AttemptUntil.IsZero() && latest.Before(deadline) {
		return latest
	}
	return deadline
}

// request reads what in refers to. An object that is no longer what the workflow
// planned for is not created.
func (a *Activities) request(ctx context.Context, in wire.InstanceInput) (provider.Request, error) {
	var p crawl.Proxy
	err := a.Client.Get(ctx, types.NamespacedName{Namespace: in.Proxy.Namespace, Name: in.Proxy.Name}, &p)
	switch {
	case apierrors.IsNotFound(err) || err == nil && (string(p.UID) != in.Proxy.UID || !p.DeletionTimestamp.IsZero()):
		return provider.Request{}, fmt.Errorf("%w: Proxy %s is gone or going", outcome.ErrSuperseded, in.Proxy)
	case err != nil:
		return provider.Request{}, fmt.Errorf("read Proxy %s: %w", in.Proxy, err)
	}
	req, err := desired.Request(ctx, a.Client, &p)
	if errors.Is(err, secrets.ErrUnusable) {
		return provider.Request{}, fmt.Errorf("%w: %w", outcome.ErrSuperseded, err)
	}
	if err != nil {
		return provider.Request{}, err
	}
	if req.Hash != in.Entry.Hash {
		return provider.Request{}, fmt.Errorf("%w: Proxy %s was edited", outcome.ErrSuperseded, in.Proxy)
	}
	req.Place, req.Name = in.Entry.Place, in.Entry.Name
	req.Owner.ClusterID = in.ClusterID
	req.Incarnation, req.InsertNumber = in.Entry.Incarnation, in.Entry.InsertNumber
	return req, nil
}

// ours says whether the entry is of an instance of this Proxy. Whoever may write a
// status must not reach another's instance by it, nor a status that was restored under
// another UID.
func ours(in wire.InstanceInput) bool {
	return in.Entry.Name == provider.InstanceName(in.Proxy.UID)
}

// find looks for the instance; there is none of another Proxy.
func (a *Activities) find(ctx context.Context, in wire.InstanceInput) (provider.Instance, error) {
	if !ours(in) {
		return provider.Instance{}, fmt.Errorf("instance %s is of another Proxy: %w", in.Entry.Name, provider.ErrNotFound)
	}
	return a.Provider.Get(ctx, id(in.Entry))
}

// Get looks at the instance once; one that is gone is an answer, not an error.
func (a *Activities) Get(ctx context.Context, in wire.InstanceInput) (wire.Instance, error) {
	inst, err := a.find(ctx, in)
	switch {
	case errors.Is(err, provider.ErrNotFound):
		return wire.Instance{State: wire.StateGone, Attempt: attempt(ctx)}, nil
	case err != nil:
		return wire.Instance{}, lasting(fmt.Errorf("look at instance %s: %w", in.Entry.Name, err))
	}
	return toWire(ctx, inst), nil
}

// Delete asks the provider to delete the instance.
func (a *Activities) Delete(ctx context.Context, in wire.InstanceInput) (wire.Instance, error) {
	if !ours(in) {
		return wire.Instance{Attempt: attempt(ctx)}, nil
	}
	defer heartbeat(ctx)()
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), wire.CreateAttempt)
	defer cancel()
	if err := a.Provider.Delete(call, id(in.Entry)); err != nil {
		return wire.Instance{}, lasting(fmt.Errorf("delete instance %s: %w", in.Entry.Name, err))
	}
	return wire.Instance{Attempt: attempt(ctx)}, nil
}

// Disown takes our marks off the instance, where that can be done.
func (a *Activities) Disown(ctx context.Context, in wire.InstanceInput) (wire.Instance, error) {
	if !ours(in) {
		return wire.Instance{Attempt: attempt(ctx)}, nil
	}
	if err := a.Provider.Disown(ctx, id(in.Entry)); err != nil {
		return wire.Instance{}, lasting(fmt.Errorf("abandon instance %s: %w", in.Entry.Name, err))
	}
	return wire.Instance{Attempt: attempt(ctx)}, nil
}

// lasting keeps a permanent failure from ending the retries of a call that has to
// succeed some day: only Create may fail for good.
func lasting(err error) error {
	if errors.Is(err, provider.ErrPermanent) {
		return fmt.Errorf("%w: %s", provider.ErrTransient, err.Error())
	}
	return err
}

func id(e wire.Entry) provider.ID { return provider.ID{Place: e.Place, Name: e.Name} }

func attempt(ctx context.Context) int32 { return activity.GetInfo(ctx).Attempt }

func toWire(ctx context.Context, i provider.Instance) wire.Instance {
	return wire.Instance{
		State: string(i.State), Message: i.Message, ProviderID: i.ProviderID, Host: i.Host, Port: i.Port,
		Hash: i.Hash, Attempt: attempt(ctx),
	}
}

// heartbeat tells the server that this attempt is alive until the returned
// function is called.
func heartbeat(ctx context.Context) (stop func()) {
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(heartbeatEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				activity.RecordHeartbeat(ctx)
			}
		}
	}()
	return func() { close(done); <-stopped }
}
