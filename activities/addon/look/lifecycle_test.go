package look

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/fairlead/activities/addon/manifest"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

func TestLifecycle(t *testing.T) {
	const content, older = "new", "old"
	for name, c := range map[string]struct {
		adopt  bool
		status addons.AddonStatus
		want   string
	}{
		"the first sync":                            {want: wire.LifecycleInstall},
		"the first sync of what runs already":       {adopt: true, want: ""},
		"other content":                             {status: addons.AddonStatus{Adopted: true, AppliedHash: older}, want: wire.LifecycleUpgrade},
		"the same content":                          {status: addons.AddonStatus{Adopted: true, AppliedHash: content}, want: ""},
		"content that an older program did not say": {status: addons.AddonStatus{Adopted: true}, want: ""},
		"an unfinished upgrade": {
			status: addons.AddonStatus{Adopted: true, AppliedHash: content, Sync: &addons.SyncProgress{Hash: content, Lifecycle: "upgrade"}},
			want:   wire.LifecycleUpgrade,
		},
		"an unfinished sync of other content": {
			status: addons.AddonStatus{Sync: &addons.SyncProgress{Hash: older}},
			want:   wire.LifecycleInstall,
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := &addons.Addon{Spec: addons.AddonSpec{Adopt: c.adopt}, Status: c.status}
			if got := lifecycle(a, content); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestMoreHooksThanASyncMayRun(t *testing.T) {
	var set manifest.Set
	for range MaxHooks + 1 {
		set.Hooks = append(set.Hooks, manifest.Hook{
			Object: manifest.Object{Unstructured: &unstructured.Unstructured{}}, Events: []manifest.Event{manifest.PreInstall},
		})
	}
	if _, err := steps(&addons.Addon{}, set, Install); !errors.Is(err, ErrTooManyHooks) {
		t.Errorf("the error is %v", err)
	}
	set.Hooks = set.Hooks[1:]
	if got, err := steps(&addons.Addon{}, set, Install); err != nil || len(got) != MaxHooks {
		t.Errorf("%d hooks, %v", len(got), err)
	}
}
