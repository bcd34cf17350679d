package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/enums/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

const (
	// systemNamespace is where the values of add-ons are, and what is kept of them.
	systemNamespace = "fairlead-system"
	// patience is how long a sync may take in which the worker is killed once.
	patience = 3 * time.Minute
	look     = 100 * time.Millisecond
)

// life is one add-on from its first sync to its uninstall. Its name is that of its object, its
// chart and its namespace.
type life struct {
	*slot

	name string
	ref  wire.AddonRef
	// syncs is how many there were.
	syncs int
	// version of the chart that it should have.
	version string
}

// play has one life, in which the worker is killed where the blow falls.
func (s *slot) play(ctx context.Context, number int, b blow) error {
	l := &life{slot: s, name: fmt.Sprintf("life-%04d", number), version: firstVersion}
	s.gate.arm(b)
	err := l.live(ctx)
	t := s.gate.taken()
	s.count(b, t)
	if v := new(violation); errors.As(err, &v) {
		v.what = fmt.Sprintf("%s in %s, killed %s: %s", l.name, s.name, b.words(t.struck), v.what)
		s.fail(v)
	}
	return err
}

func (b blow) words(what string) string {
	switch {
	case what == "":
		return "never"
	case b.after:
		return fmt.Sprintf("after write %d (%s)", b.step, what)
	}
	return fmt.Sprintf("before write %d (%s)", b.step, what)
}

func (l *life) live(ctx context.Context) error {
	for _, part := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"install", l.install}, {"drift", l.drift}, {"upgrade", l.upgrade}, {"uninstall", l.uninstall},
		{"end of the workflow", l.ended}, {"search for secrets", l.search}, {"clean up", l.cleanUp},
	} {
		if err := part.do(ctx); err != nil {
			if v := new(violation); errors.As(err, &v) {
				v.what = part.name + ": " + v.what
				return v
			}
			return fmt.Errorf("%s of %s: %w", part.name, l.name, err)
		}
	}
	return nil
}

func (l *life) install(ctx context.Context) error {
	values := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: systemNamespace, Name: l.name},
		StringData: map[string]string{"values.yaml": "password: " + l.canary + "\n"},
	}
	if err := l.client.Create(ctx, values); err != nil {
		return err
	}
	a := &addons.Addon{
		ObjectMeta: metav1.ObjectMeta{Name: l.name, Labels: map[string]string{labelSlot: l.slot.name}},
		Spec: addons.AddonSpec{
			Namespace: l.name, CreateNamespace: true, Prune: true,
			Source:     addons.AddonSource{Helm: &addons.HelmSource{Repo: l.stack.chartsURL + "/" + l.name, Chart: l.name, Version: firstVersion}},
			ValuesFrom: []addons.ValuesSource{{SecretRef: &addons.ValuesRef{Name: l.name, Key: "values.yaml"}}},
		},
	}
	if err := l.client.Create(ctx, a); err != nil {
		return err
	}
	l.ref = wire.AddonRef{Name: a.Name, UID: string(a.UID)}
	return l.synced(ctx, a.Generation)
}

// drift has somebody change an object. That the add-on looks at it is brought about by an edit
// that changes nothing of it.
func (l *life) drift(ctx context.Context) error {
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: l.name, Name: "settings"}}
	err := l.client.Patch(ctx, settings, client.RawPatch(mergePatch, []byte(`{"data":{"color":"red"}}`)), client.FieldOwner("somebody"))
	if err != nil {
		return err
	}
	return l.edit(ctx, func(a *addons.Addon) { a.Spec.Description = "somebody has changed an object of it" })
}

func (l *life) upgrade(ctx context.Context) error {
	l.version = secondVersion
	return l.edit(ctx, func(a *addons.Addon) { a.Spec.Source.Helm.Version = secondVersion })
}

// edit changes the object, and waits until that is synced.
func (l *life) edit(ctx context.Context, change func(*addons.Addon)) error {
	a := &addons.Addon{}
	if err := l.client.Get(ctx, client.ObjectKey{Name: l.name}, a); err != nil {
		return err
	}
	before := a.DeepCopy()
	change(a)
	if err := l.client.Patch(ctx, a, client.MergeFrom(before)); err != nil {
		return err
	}
	return l.synced(ctx, a.Generation)
}

// synced waits for the end of the next sync, and holds it to what it says.
func (l *life) synced(ctx context.Context, generation int64) error {
	l.syncs++
	var last addons.AddonStatus
	err := l.until(ctx, func(ctx context.Context) (bool, error) {
		a := &addons.Addon{}
		if err := l.client.Get(ctx, client.ObjectKey{Name: l.name}, a); err != nil {
			return false, err
		}
		if v := l.tells("the object", a); v != nil {
			return false, v
		}
		last = a.Status
		return last.Phase == addons.PhaseSynced && last.ObservedGeneration >= generation && len(last.History) >= l.syncs &&
			last.Health != nil && last.Health.Status == addons.HealthHealthy, nil
	})
	if errors.Is(err, errStuck) {
		return violated(broken, "not synced within %s: %s: %s, %+v, with %d syncs in its history", patience, last.Phase, last.Message, last.Health, len(last.History))
	}
	if err != nil {
		return err
	}
	return l.check(ctx, last)
}

func (l *life) uninstall(ctx context.Context) error {
	a := &addons.Addon{ObjectMeta: metav1.ObjectMeta{Name: l.name}}
	wish := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"true"}}}`, addons.AnnotationUninstall)
	if err := l.client.Patch(ctx, a, client.RawPatch(mergePatch, wish)); err != nil {
		return err
	}
	if err := l.client.Delete(ctx, a); err != nil {
		return err
	}
	if err := l.stumbles(ctx); err != nil {
		return err
	}
	return l.gone(ctx, a)
}

// stumbles waits until the hook that fails has failed, and then has it tried again by an edit:
// its policy has the Job be gone by then.
func (l *life) stumbles(ctx context.Context) error {
	a := &addons.Addon{}
	err := l.until(ctx, func(ctx context.Context) (bool, error) {
		err := l.client.Get(ctx, client.ObjectKey{Name: l.name}, a)
		return a.Status.Phase == addons.PhaseError || apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
	if errors.Is(err, errStuck) {
		return violated(broken, "no failed hook is told within %s: %s: %s", patience, a.Status.Phase, a.Status.Message)
	}
	if err != nil {
		return err
	}
	var jobs batchv1.JobList
	if err := l.client.List(ctx, &jobs, client.InNamespace(l.name)); err != nil {
		return err
	}
	for i := range jobs.Items {
		if failsFirst(jobs.Items[i].Name) && jobs.Items[i].Status.Failed > 0 {
			return violated(leftBehind, "Job %s has failed, and is there against its policy", jobs.Items[i].Name)
		}
	}
	again := client.RawPatch(mergePatch, []byte(`{"spec":{"description":"try again"}}`))
	return client.IgnoreNotFound(l.client.Patch(ctx, a, again))
}

// gone waits for the end of the object.
func (l *life) gone(ctx context.Context, a *addons.Addon) error {
	err := l.until(ctx, func(ctx context.Context) (bool, error) {
		err := l.client.Get(ctx, client.ObjectKey{Name: l.name}, a)
		if err == nil {
			if v := l.tells("the object", a); v != nil {
				return false, v
			}
		}
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
	if errors.Is(err, errStuck) {
		return violated(broken, "not gone within %s: %s: %s", patience, a.Status.Phase, a.Status.Message)
	}
	if err != nil {
		return err
	}
	return l.checkGone(ctx)
}

// ended waits until the workflow has ended too.
func (l *life) ended(ctx context.Context) error {
	err := l.until(ctx, func(ctx context.Context) (bool, error) {
		d, err := l.temporal.DescribeWorkflow(ctx, wire.AddonID(l.ref), "")
		if err != nil {
			return false, err
		}
		return d.Status == enums.WORKFLOW_EXECUTION_STATUS_COMPLETED, nil
	})
	if errors.Is(err, errStuck) {
		return violated(leftBehind, "the workflow has not ended within %s", patience)
	}
	return err
}

// errStuck ends what takes too long.
var errStuck = errors.New("it takes too long")

// until looks until something is so.
func (l *life) until(ctx context.Context, so func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errStuck)
	defer cancel()
	for {
		ok, err := so(ctx)
		switch {
		case ok:
			return nil
		case context.Cause(ctx) != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		}
		if err := linger(ctx, look); err != nil {
			return err
		}
	}
}
