package addon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"example.com/fairlead/activities/addon/hooks"
	"example.com/fairlead/activities/addon/look"
	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/mask"
	"example.com/fairlead/activities/addon/setstore"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/internal/text"
	"example.com/fairlead/temporal/wire"
)

// maxHookText is how many bytes are told of why a hook failed, and of what it printed.
const maxHookText = 1 << 10

// deletion are the events of an uninstall.
var deletion = []manifest.Event{manifest.PreDelete, manifest.PostDelete}

// RunHook runs one hook. It may be repeated: the run that has begun goes on, with the time
// that it has left.
func (a *Activities) RunHook(ctx context.Context, in wire.AddonHookInput) (wire.AddonHookResult, error) {
	tell, stop := pulse(ctx)
	defer stop()
	read := a.present
	if slices.Contains(deletion, manifest.Event(in.Event)) {
		read = a.leaving
	}
	o, err := read(ctx, in.Addon)
	if err != nil {
		return wire.AddonHookResult{}, err
	}
	e, err := a.event(ctx, o, in.Render, in.Event)
	if err != nil {
		return wire.AddonHookResult{}, err
	}
	h, err := e.ran(in.Number, in.Run)
	if err != nil {
		return wire.AddonHookResult{}, err
	}
	h.Began = began(ctx)
	output, err := e.runner.Run(ctx, h, in.Timeout, func(progress string) { tell(e.secrets.Text(progress)) })
	var failed *hooks.FailedError
	switch {
	case errors.As(err, &failed):
		// The runner has masked both.
		return wire.AddonHookResult{Failed: text.Head(failed.Error(), maxHookText, "… (cut)"), Output: tail(failed.Output)}, nil
	case err != nil:
		return wire.AddonHookResult{}, cut(e.secrets, err)
	}
	return wire.AddonHookResult{Output: tail(output)}, nil
}

// began is when the activity was scheduled, so that a crash gives no hook more time.
func began(ctx context.Context) time.Time {
	if !activity.IsActivity(ctx) {
		return time.Time{}
	}
	return activity.GetInfo(ctx).ScheduledTime
}

// TidyHooks deletes what the hooks of an event have left, as their policies say.
func (a *Activities) TidyHooks(ctx context.Context, in wire.AddonTidyInput) error {
	_, stop := pulse(ctx)
	defer stop()
	o, found, err := a.get(ctx, in.Addon)
	if err != nil || !found || len(in.Runs) == 0 {
		return err
	}
	e, err := a.event(ctx, o, in.Render, in.Event)
	if err != nil {
		return err
	}
	var all []hooks.Ran
	for i, run := range in.Runs {
		h, err := e.ran(i, run)
		if err != nil {
			return err
		}
		all = append(all, h)
	}
	if last := len(all) - 1; in.Failed {
		err = e.runner.Failed(ctx, all[last], all[:last])
	} else {
		err = e.runner.Succeeded(ctx, all)
	}
	return cut(e.secrets, err)
}

// event is one of a render, with its hooks in their order.
type event struct {
	name    string
	hooks   []manifest.Hook
	runner  *hooks.Runner
	secrets mask.Mask
}

func (a *Activities) event(ctx context.Context, o *addons.Addon, render, name string) (*event, error) {
	r, err := a.Store.Render(ctx, setstore.Digest(render))
	if err != nil {
		return nil, lost(err)
	}
	values, err := a.Look.Sources.Secrets(ctx, o)
	if err != nil {
		return nil, err
	}
	secrets := look.Mask(r.Set, values)
	runner := &hooks.Runner{Client: a.Look.Cluster.Client, Logs: a.Look.Cluster.Logs, Mask: secrets.Text, Addon: o.Name}
	return &event{name: name, hooks: hooks.At(r.Set, manifest.Event(name)), runner: runner, secrets: secrets}, nil
}

func (e *event) ran(number int, run string) (hooks.Ran, error) {
	if number < 0 || number >= len(e.hooks) {
		return hooks.Ran{}, permanent{fmt.Errorf("the render has %d hooks of event %s, and none with the number %d", len(e.hooks), e.name, number)}
	}
	return hooks.Ran{Hook: e.hooks[number], Run: run}, nil
}

// tail is the end of what a hook has printed.
func tail(output string) string {
	if len(output) <= maxHookText {
		return output
	}
	return "… " + strings.ToValidUTF8(output[len(output)-maxHookText:], "")
}
