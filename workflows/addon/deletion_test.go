package addon

import (
	"slices"
	"strings"
	"testing"

	"go.temporal.io/sdk/testsuite"

	"example.com/fairlead/temporal/wire"
)

func TestUninstall(t *testing.T) {
	synced := func() (*outside, *State) {
		o := newOutside()
		state := o.episode(t, nil, nil)
		o.claim.Deleting, o.claim.Inputs = true, "in2"
		return o, state
	}
	hooks := []wire.AddonHook{
		{Event: "pre-delete", Kind: "Job", Name: "safe", Works: true},
		{Event: "post-delete", Kind: "Job", Name: "bye", Works: true},
	}
	t.Run("is not what a plain deletion does", func(t *testing.T) {
		o, state := synced()
		if o.episode(t, state, wake) != nil || !o.released || o.removed {
			t.Errorf("released %v, removed %v", o.released, o.removed)
		}
		o.called(t, claimed, wire.ActivityAddonRelease)
	})
	t.Run("runs hooks around the removal", func(t *testing.T) {
		o, state := synced()
		o.claim.Uninstall, o.claim.Hooks = true, hooks
		if o.episode(t, state, wake) != nil || !o.released || !o.removed || o.kept == "" {
			t.Errorf("released %v, removed %v, kept %q", o.released, o.removed, o.kept)
		}
		o.called(t, claimed, published, hooked+"pre-delete/0", published, tidied, published,
			wire.ActivityAddonRemove, published, hooked+"post-delete/0", published, tidied, wire.ActivityAddonRelease)
	})
	t.Run("stops at a pre-delete hook that fails, and can be called off", func(t *testing.T) {
		o, state := synced()
		o.claim.Uninstall, o.claim.Hooks = true, hooks
		o.hook = func(wire.AddonHookInput) wire.AddonHookResult {
			return wire.AddonHookResult{Failed: "volumes are in use"}
		}
		state = o.episode(t, state, wake)
		o.phase(t, wire.AddonError)
		if msg := o.claim.Stored.Message; o.removed || !strings.Contains(msg, "volumes are in use") || !strings.Contains(msg, "rendimiento.ai/uninstall-") {
			t.Errorf("removed %v, message %q", o.removed, msg)
		}
		o.claim.Uninstall, o.claim.Inputs = false, "in3"
		if o.episode(t, state, wake) != nil || !o.released || o.removed {
			t.Errorf("released %v, removed %v", o.released, o.removed)
		}
	})
	t.Run("retries a post-delete hook alone", func(t *testing.T) {
		o, state := synced()
		o.claim.Uninstall, o.claim.Hooks = true, hooks
		o.hook = func(in wire.AddonHookInput) wire.AddonHookResult {
			if in.Event == "post-delete" {
				return wire.AddonHookResult{Failed: "no"}
			}
			return wire.AddonHookResult{}
		}
		state = o.episode(t, state, wake)
		o.hook = nil
		if o.episode(t, state, nil) != nil || !o.released {
			t.Errorf("released %v", o.released)
		}
		o.called(t, claimed, hooked+"post-delete/0", published, tidied, wire.ActivityAddonRelease)
	})
}

func TestADeletionDoesNotWaitForAHook(t *testing.T) {
	o := newOutside()
	o.hooks = jobs
	o.hook = func(wire.AddonHookInput) wire.AddonHookResult { return wire.AddonHookResult{} }
	var env *testsuite.TestWorkflowEnvironment
	o.fail = func(name string) error {
		if name == hooked+"pre-install/1" && !o.claim.Deleting {
			o.mu.Lock()
			o.claim.Deleting, o.claim.Inputs = true, "in2"
			o.mu.Unlock()
			env.SignalWorkflow(wire.SignalChanged, nil)
		}
		return nil
	}
	state := o.episode(t, nil, func(e *testsuite.TestWorkflowEnvironment) { env = e })
	if state != nil || !o.released || o.live != "" {
		t.Errorf("released %v, applied %q", o.released, o.live)
	}
	if slices.Contains(o.calls, hooked+"pre-install/2") {
		t.Errorf("it went on: %v", o.calls)
	}
}
