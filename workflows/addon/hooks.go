package addon

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"example.com/fairlead/temporal/wire"
)

// renderOfHooks is the stored render that has the hooks of what is under way.
func (r *run) renderOfHooks() string {
	if p := r.state.Work.Preview; p != nil {
		return p.Render
	}
	return r.state.Stored.Sets.Render
}

func (r *run) hook(ctx workflow.Context, s Step, claim wire.AddonClaim) error {
	w := &r.state.Work
	if w.Event != s.Hook.Event {
		w.Event, w.Runs, w.Tidied = s.Hook.Event, nil, false
	}
	if s.Run == "" { // it has succeeded before
		w.Runs = append(w.Runs, r.state.runOf(s.Hook.Event, s.Number))
		return nil
	}
	in := wire.AddonHookInput{
		Addon: r.addon, Render: r.renderOfHooks(), Event: s.Hook.Event, Number: s.Number, Run: s.Run, Timeout: claim.HookTimeout,
	}
	var result wire.AddonHookResult
	summary := fmt.Sprintf("%s hook: %s %s", s.Hook.Event, s.Hook.Kind, s.Hook.Name)
	if err := r.long(ctx, claim, withWaitOptions(ctx, summary, claim.HookTimeout+hookSlack), wire.ActivityAddonHook, in, &result); err != nil {
		return r.failed(ctx, err, claim)
	}
	w.Runs = append(w.Runs, s.Run)
	ran := wire.AddonHookRun{Event: s.Hook.Event, Kind: s.Hook.Kind, Name: s.Hook.Name, Message: clip(result.Output), At: seconds(workflow.Now(ctx))}
	if result.Failed != "" {
		ran.Failed, ran.Message = true, clip(joined(result.Failed, result.Output))
		w.HookFailed = result.Failed
		if claim.Deleting {
			w.HookFailed += "; " + undo(r.addon)
		}
	} else {
		r.state.count(s.Hook.Event, s.Number)
	}
	w.Ran = append(w.Ran, ran)
	return nil
}

func (r *run) tidy(ctx workflow.Context, s Step, claim wire.AddonClaim) error {
	w := &r.state.Work
	in := wire.AddonTidyInput{Addon: r.addon, Render: r.renderOfHooks(), Event: s.Hook.Event, Runs: w.Runs, Failed: w.HookFailed != ""}
	if w.Event != s.Hook.Event { // they ran in another episode
		in.Runs = nil
		for i := range s.Number {
			in.Runs = append(in.Runs, r.state.runOf(s.Hook.Event, i))
		}
	}
	if err := r.long(ctx, claim, withWaitOptions(ctx, "tidy up after the "+s.Hook.Event+" hooks", applyWindow), wire.ActivityAddonTidy, in, nil); err != nil {
		return r.failed(ctx, err, claim)
	}
	if in.Failed {
		w.Tidied = true
	} else {
		r.state.Sync.Tidied = s.Hook.Event
	}
	return nil
}

func joined(failed, output string) string {
	if output == "" {
		return failed
	}
	return failed + ": " + output
}
