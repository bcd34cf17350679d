package addon

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"example.com/fairlead/temporal/wire"
)

var (
	ref = wire.AddonRef{Name: "demo", UID: "u1"}
	now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// outside is the world outside the workflow: one object, its source, and a cluster.
type outside struct {
	mu    sync.Mutex
	claim wire.AddonClaim
	// content that the source has, and the hooks that a chart of it has.
	content string
	hooks   []wire.AddonHook
	// live is the content that the cluster has; drifted objects differ from it.
	live    string
	drifted int
	// health of what is live, which after so many looks at it is good.
	health     wire.AddonHealth
	healsAfter int
	// blocked, adopts, mass and replace are what a look finds.
	blocked, adopts, mass string
	replace               int32

	calls    []string
	history  []wire.AddonSyncEnd
	hookRuns []wire.AddonHookRun
	// ran are the runs of hooks, each once: the same run again is the same object.
	ran      []string
	removed  bool
	released bool
	kept     string
	// fail, if set, is asked before each call of an activity. hook is the outcome of one.
	fail func(name string) error
	hook func(in wire.AddonHookInput) wire.AddonHookResult
	// slow, if set, is where a hook takes its time.
	slow func(ctx context.Context, name string)
	// lost is a plan that the set store does not have any more.
	lost string
	// apply may say that the plan is not done.
	apply func(in wire.AddonApplyInput) *wire.AddonApplied
}

func newOutside() *outside {
	return &outside{
		claim:   wire.AddonClaim{Generation: 1, Inputs: "in1", HookTimeout: time.Minute},
		content: "v1", health: wire.AddonHealth{Status: wire.Healthy},
	}
}

func (o *outside) do(name string) error {
	o.mu.Lock()
	o.calls = append(o.calls, name)
	fail := o.fail
	o.mu.Unlock()
	if fail != nil {
		return fail(name)
	}
	return nil
}

// look is what a preview finds. Its hashes are made of what they stand for.
func (o *outside) look() wire.AddonPreview {
	p := wire.AddonPreview{
		Revision: "demo-" + o.content, Hash: o.content, Render: "render-" + o.content,
		Blocked: o.blocked, Adopts: o.adopts, Mass: o.mass, Health: o.health,
	}
	st := o.claim.Stored
	switch {
	case st.Sync != nil && st.Sync.Hash == o.content:
		p.Lifecycle = st.Sync.Lifecycle
	case !st.Adopted:
		p.Lifecycle = wire.LifecycleInstall
	case st.AppliedHash != o.content:
		p.Lifecycle = wire.LifecycleUpgrade
	}
	if p.Lifecycle != "" {
		for _, h := range o.hooks {
			h.Event += p.Lifecycle
			p.Hooks = append(p.Hooks, h)
		}
	}
	switch {
	case o.live == "":
		p.Writes, p.Counts.Create = 4, 4
	case o.live != o.content || o.drifted > 0:
		p.Writes, p.Counts.Update, p.Counts.Unchanged = 1+o.drifted, int32(1+o.drifted)-o.replace, 3
		p.Counts.Replace = o.replace
	default:
		p.Counts.Unchanged = 4
	}
	if p.Writes > 0 || len(p.Hooks) > 0 || p.Blocked != "" {
		p.PlanHash = fmt.Sprintf("plan-%s-over-%s-%d", o.content, o.live, o.drifted)
		if p.Plan = "stored-" + p.PlanHash; p.Plan == o.lost {
			p.Plan += "-again"
		}
		p.Summary = fmt.Sprintf("%d objects", p.Writes)
		p.Inventory = "before-" + o.content
	}
	return p
}

// registry is a worker, or the environment of a test.
type registry interface {
	RegisterActivityWithOptions(fn any, options activity.RegisterOptions)
}

func (o *outside) register(env registry) {
	add := func(name string, fn any) {
		env.RegisterActivityWithOptions(fn, activity.RegisterOptions{Name: name})
	}
	add(wire.ActivityAddonClaim, func(context.Context, wire.AddonRef) (wire.AddonClaim, error) {
		err := o.do(wire.ActivityAddonClaim)
		o.mu.Lock()
		defer o.mu.Unlock()
		return o.claim, err
	})
	add(wire.ActivityAddonPreview, func(_ context.Context, in wire.AddonPreviewInput) (wire.AddonPreview, error) {
		if err := o.do(wire.ActivityAddonPreview); err != nil {
			return wire.AddonPreview{}, err
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		if in.Generation != o.claim.Generation {
			return wire.AddonPreview{}, failure(wire.FailureSuperseded)
		}
		return o.look(), nil
	})
	add(wire.ActivityAddonPublish, o.publish)
	add(wire.ActivityAddonApply, o.applied)
	add(wire.ActivityAddonHook, o.runHook)
	add(wire.ActivityAddonTidy, func(context.Context, wire.AddonTidyInput) error { return o.do(wire.ActivityAddonTidy) })
	add(wire.ActivityAddonSettle, func(_ context.Context, in wire.AddonSettleInput) (wire.AddonHealth, error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.healsAfter--; o.healsAfter == 0 {
			o.health = wire.AddonHealth{Status: wire.Healthy}
		}
		if o.health.Status == in.Told.Status {
			return o.health, failureAgain(wire.FailureNotYet)
		}
		return o.health, nil
	})
	add(wire.ActivityAddonRemove, func(context.Context, wire.AddonRemoveInput) (wire.AddonRemoved, error) {
		if err := o.do(wire.ActivityAddonRemove); err != nil {
			return wire.AddonRemoved{}, err
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.removed, o.live = true, ""
		return wire.AddonRemoved{Deleted: 3, Kept: "Namespace demo"}, nil
	})
	add(wire.ActivityAddonRelease, func(_ context.Context, in wire.AddonReleaseInput) error {
		o.mu.Lock()
		o.released, o.kept = true, in.Kept
		o.mu.Unlock()
		return o.do(wire.ActivityAddonRelease)
	})
	add(wire.ActivityAddonAsk, func(_ context.Context, in wire.SyncInput) error {
		err := o.do(wire.ActivityAddonAsk)
		o.mu.Lock()
		defer o.mu.Unlock()
		if in.Plan == "" {
			in.Plan = o.claim.Stored.PlanHash
		}
		o.approve(in.Plan, in.Who)
		return err
	})
}

func (o *outside) approve(plan, who string) {
	o.claim.Approve, o.claim.Approver = plan, wire.Approver{Name: who}
	o.claim.Generation++
	o.claim.Inputs = fmt.Sprintf("in%d", o.claim.Generation)
}

func (o *outside) publish(_ context.Context, in wire.AddonPublishInput) error {
	if err := o.do(wire.ActivityAddonPublish); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if in.Status.Sequence != o.claim.Stored.Sequence+1 {
		return failure(wire.FailureSuperseded)
	}
	o.claim.Stored = in.Status
	o.hookRuns = append(o.hookRuns, in.Ran...)
	if in.Ended != nil {
		o.history = append(o.history, *in.Ended)
	}
	return nil
}

func (o *outside) applied(_ context.Context, in wire.AddonApplyInput) (wire.AddonApplied, error) {
	if err := o.do(wire.ActivityAddonApply + "/" + in.Part); err != nil {
		return wire.AddonApplied{}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if in.Plan == o.lost {
		return wire.AddonApplied{}, failure(wire.FailureLost)
	}
	if o.apply != nil {
		if a := o.apply(in); a != nil {
			return *a, nil
		}
	}
	if in.Part == wire.PartEarly {
		return wire.AddonApplied{Written: 1}, nil
	}
	o.live, o.drifted = o.content, 0
	return wire.AddonApplied{Inventory: "exact-" + o.content, Written: 4, Health: o.health}, nil
}

func (o *outside) runHook(ctx context.Context, in wire.AddonHookInput) (wire.AddonHookResult, error) {
	name := fmt.Sprintf("%s/%s/%d", wire.ActivityAddonHook, in.Event, in.Number)
	if err := o.do(name); err != nil {
		return wire.AddonHookResult{}, err
	}
	if o.slow != nil {
		o.slow(ctx, name)
		if ctx.Err() != nil {
			return wire.AddonHookResult{}, ctx.Err()
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ran = append(o.ran, in.Run)
	if o.hook != nil {
		return o.hook(in), nil
	}
	return wire.AddonHookResult{}, nil
}

func failure(kind string) error {
	return temporal.NewApplicationErrorWithOptions("why: "+kind, kind, temporal.ApplicationErrorOptions{NonRetryable: true})
}

func failureAgain(kind string) error {
	return temporal.NewApplicationErrorWithOptions("why: "+kind, kind, temporal.ApplicationErrorOptions{NextRetryDelay: 200 * time.Millisecond})
}

var jobs = []wire.AddonHook{
	{Event: "pre-", Kind: "ServiceAccount", Name: "worker"},
	{Event: "pre-", Kind: "Job", Name: "migrate", Works: true},
	{Event: "pre-", Kind: "Job", Name: "check", Works: true},
	{Event: "post-", Kind: "Job", Name: "seed", Works: true},
	{Event: "post-", Kind: "Job", Name: "greet", Works: true},
}
