package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// portsUsed is how many ports the edits move between.
const portsUsed = 10

// momentTimeout is how long a step waits for its moment before it is done all the
// same.
const momentTimeout = 10 * time.Second

// actor does to one object what its script says.
type actor struct {
	*run
	ref       wire.ProxyRef
	lifecycle int
	// runs of the workflow that were disturbed.
	runs []string
	// undos end what ends by itself after a while.
	undos errgroup.Group
}

// do runs one step. What ends by itself is ended in the background.
func (a *actor) do(ctx context.Context, st step) error {
	a.observer.note(a.ref.UID, "script  %s", st.do)
	switch st.do {
	case actTerminate, actCancel, actReset:
		return a.disturb(ctx, st)
	case actRotate:
		return a.writeSecrets(ctx, st.roll)
	case actHideSecrets:
		err := a.deleteSecrets(ctx)
		a.later(ctx, st.lasts, func() error { return a.writeSecrets(ctx, st.roll) })
		return err
	case actPause:
		err := a.annotate(ctx, crawl.AnnotationPaused, "true")
		a.later(ctx, st.lasts, func() error { return a.annotate(ctx, crawl.AnnotationPaused, "") })
		return err
	case actReplace:
		return a.annotate(ctx, crawl.AnnotationReplace, strconv.FormatUint(st.roll, 36))
	case actKillProcess, actReboot:
		return a.endProcess(st.do == actReboot)
	default:
		return a.edit(ctx, func(p *crawl.Proxy) { change(&p.Spec, a.lifecycle, st) })
	}
}

func (a *actor) later(ctx context.Context, after time.Duration, undo func() error) {
	a.undos.Go(func() error {
		if err := linger(ctx, after); err != nil {
			return err
		}
		return undo()
	})
}

// change is an edit of the spec.
func change(spec *crawl.ProxySpec, lifecycle int, st step) {
	switch st.do {
	case actEditPort:
		spec.Port = crawl.DefaultPort + (spec.Port-crawl.DefaultPort+1+int32(st.roll%(portsUsed-1)))%portsUsed // #nosec G115 -- less than portsUsed
	case actEditCloudInit:
		spec.CloudInit = cloudInit(lifecycle, spec.CloudInit == nil || spec.CloudInit.SecretRef == nil, st.roll)
	case actEditAuth:
		if spec.AuthSecretRef == nil {
			spec.AuthSecretRef = &crawl.LocalSecretRef{Name: authSecret(lifecycle)}
		} else {
			spec.AuthSecretRef = nil
		}
	case actEditAttributes:
		spec.Attributes["edition"] = strconv.FormatUint(st.roll, 36)
	case actEditProvider:
		spec.Provider = otherProvider(spec.Provider)
	}
}

func cloudInit(lifecycle int, secret bool, roll uint64) *crawl.CloudInit {
	if secret {
		return &crawl.CloudInit{SecretRef: &crawl.SecretKeyRef{Name: initSecret(lifecycle), Key: "userData"}}
	}
	return &crawl.CloudInit{UserData: fmt.Sprintf("#cloud-config\n# edition %d\n", roll)}
}

// current says whether p is Ready, and all that was asked of it is done.
func current(p *crawl.Proxy) bool {
	return p.Status.Phase == crawl.PhaseReady && p.Status.ObservedGeneration == p.Generation &&
		!p.ReplacePending()
}

// trying says whether the ledger of p tells of an attempt that may be running.
func trying(p *crawl.Proxy) bool {
	return slices.ContainsFunc(p.Status.Instances, func(r crawl.InstanceRecord) bool { return r.AttemptUntil != nil })
}

// edit changes the object, unless it is gone.
func (a *actor) edit(ctx context.Context, how func(p *crawl.Proxy)) error {
	return insist(ctx, "edit Proxy "+a.ref.String(), func(ctx context.Context) error {
		var p crawl.Proxy
		err := a.live.Get(ctx, types.NamespacedName{Namespace: a.ref.Namespace, Name: a.ref.Name}, &p)
		if apierrors.IsNotFound(err) || err == nil && string(p.UID) != a.ref.UID {
			return nil
		}
		if err != nil {
			return err
		}
		before := p.DeepCopy()
		how(&p)
		return client.IgnoreNotFound(a.live.Patch(ctx, &p, client.MergeFrom(before)))
	})
}

// annotate sets an annotation, or removes it when the value is empty.
func (a *actor) annotate(ctx context.Context, key, value string) error {
	return a.edit(ctx, func(p *crawl.Proxy) {
		if value == "" {
			delete(p.Annotations, key)
			return
		}
		metav1.SetMetaDataAnnotation(&p.ObjectMeta, key, value)
	})
}

// endProcess kills the process of the instance, as the machine may. One that goes
// with its machine listened before, and nobody had begun a life since the boot.
func (a *actor) endProcess(reboot bool) error {
	all, err := readProcesses(a.observer.owner)
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.name() == provider.InstanceName(a.ref.UID) && (!reboot || p.listening && p.forgetBoot()) {
			_ = syscall.Kill(p.pid, syscall.SIGKILL) // it may have ended by itself
		}
	}
	return nil
}

func authSecret(lifecycle int) string { return fmt.Sprintf("auth-%04d", lifecycle) }
func initSecret(lifecycle int) string { return fmt.Sprintf("init-%04d", lifecycle) }

// writeSecrets gives both Secrets new content. The canary in it may be found nowhere
// else.
func (a *actor) writeSecrets(ctx context.Context, roll uint64) error {
	edition := strconv.FormatUint(roll, 36)
	for name, data := range map[string]map[string]string{
		authSecret(a.lifecycle): {"username": "crawler", "password": a.canary + edition},
		initSecret(a.lifecycle): {"userData": "#cloud-config\n# " + a.canary + edition + "\n"},
	} {
		s := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: a.ref.Namespace, Name: name, Labels: map[string]string{crawl.LabelCloudInit: "true"}},
			StringData: data,
		}
		err := insist(ctx, "write Secret "+name, func(ctx context.Context) error {
			err := a.live.Update(ctx, s.DeepCopy())
			if apierrors.IsNotFound(err) {
				err = a.live.Create(ctx, s.DeepCopy())
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *actor) deleteSecrets(ctx context.Context) error {
	for _, name := range []string{authSecret(a.lifecycle), initSecret(a.lifecycle)} {
		err := insist(ctx, "delete Secret "+name, func(ctx context.Context) error {
			return client.IgnoreNotFound(a.live.Delete(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: a.ref.Namespace, Name: name}}))
		})
		if err != nil {
			return err
		}
	}
	return nil
}
