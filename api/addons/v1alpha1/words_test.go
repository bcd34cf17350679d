package v1alpha1_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addons "example.com/fairlead/api/addons/v1alpha1"
)

func TestBrakes(t *testing.T) {
	for name, test := range map[string]struct {
		addon                 addons.Addon
		suspended, uninstalls bool
	}{
		"none":                 {},
		"spec.suspend":         {addon: addons.Addon{Spec: addons.AddonSpec{Suspend: true}}, suspended: true},
		"paused":               {addon: annotated(addons.AnnotationPaused, "true"), suspended: true},
		"not paused":           {addon: annotated(addons.AnnotationPaused, "false")},
		"marked for uninstall": {addon: annotated(addons.AnnotationUninstall, "true"), uninstalls: true},
		"a mark taken back":    {addon: annotated(addons.AnnotationUninstall, "")},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.addon.Suspended(); got != test.suspended {
				t.Errorf("suspended: %v", got)
			}
			if got := test.addon.Uninstalls(); got != test.uninstalls {
				t.Errorf("uninstalls: %v", got)
			}
		})
	}
}

func annotated(key, value string) addons.Addon {
	return addons.Addon{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{key: value}}}
}

func TestWhatIsNotSaid(t *testing.T) {
	a := addons.Addon{ObjectMeta: metav1.ObjectMeta{Name: "longhorn"}}
	if got := a.Release(); got != "longhorn" {
		t.Errorf("the release is %q", got)
	}
	if got := a.Spec.HookLimit(); got != 10*time.Minute {
		t.Errorf("a hook may take %s", got)
	}
	a.Spec = addons.AddonSpec{ReleaseName: "storage", HookTimeout: 30}
	if got := a.Release(); got != "storage" {
		t.Errorf("the release is %q, and was named", got)
	}
	if got := a.Spec.HookLimit(); got != 30*time.Second {
		t.Errorf("a hook may take %s, and 30s were said", got)
	}
}

func TestReady(t *testing.T) {
	var s addons.AddonStatus
	if s.Ready() {
		t.Error("a new add-on is ready")
	}
	s.Conditions = []metav1.Condition{{Type: addons.ConditionReady, Status: metav1.ConditionFalse}}
	if s.Ready() {
		t.Error("ready, and the condition is False")
	}
	s.Conditions[0].Status = metav1.ConditionTrue
	if !s.Ready() {
		t.Error("not ready, and the condition is True")
	}
}

func TestReadyForDependents(t *testing.T) {
	ready := func(change func(*addons.Addon)) *addons.Addon {
		a := &addons.Addon{
			ObjectMeta: metav1.ObjectMeta{Generation: 3},
			Status: addons.AddonStatus{
				Phase: addons.PhaseSynced, ObservedGeneration: 3,
				Conditions: []metav1.Condition{{Type: addons.ConditionReady, Status: metav1.ConditionTrue}},
			},
		}
		change(a)
		return a
	}
	for name, test := range map[string]struct {
		addon *addons.Addon
		want  bool
	}{
		"synced and healthy": {ready(func(*addons.Addon) {}), true},
		"syncing":            {ready(func(a *addons.Addon) { a.Status.Phase = addons.PhaseSyncing }), false},
		"synced and sick":    {ready(func(a *addons.Addon) { a.Status.Conditions[0].Status = metav1.ConditionFalse }), false},
		"edited since":       {ready(func(a *addons.Addon) { a.Generation = 4 }), false},
		"being deleted":      {ready(func(a *addons.Addon) { a.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }), false},
		"new":                {&addons.Addon{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.addon.ReadyForDependents(); got != test.want {
				t.Errorf("ready: %v", got)
			}
		})
	}
}
