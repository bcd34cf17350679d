package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// How long things may take at most, with all that may be lost on the way: several
// attempts whose end is not known take a minute and a half each.
const (
	convergeLimit = 7 * time.Minute
	goneLimit     = 7 * time.Minute
	endedLimit    = 5 * time.Minute
	nudgeEvery    = 10 * time.Second

	// maxUnanswered is how many objects may wait for their first status when another
	// one is created.
	maxUnanswered = 12
)

// lifecycle runs the lives of one name, one after another.
func (r *run) lifecycle(ctx context.Context, s script) error {
	for i, l := range s.lives {
		r.slots <- struct{}{}
		a, err := r.enter(ctx, s, i)
		if err == nil {
			err = a.act(ctx, l)
		}
		<-r.slots
		if err == nil {
			err = a.end(ctx, l)
		}
		r.progress.count(livesEnded, 1)
		if err != nil {
			return err
		}
	}
	return nil
}

// enter lets one life begin at a time, and only while the installation keeps up:
// what is done to objects that nobody has looked at yet tries nothing.
func (r *run) enter(ctx context.Context, s script, i int) (*actor, error) {
	r.entrance.Lock()
	defer r.entrance.Unlock()
	if err := r.observer.awaitCalm(ctx, maxUnanswered); err != nil {
		return nil, err
	}
	r.progress.count(livesBegun, 1)
	if i == 0 {
		r.progress.count(lifecyclesBegun, 1)
	}
	return r.born(ctx, s, i)
}

// born creates the object of a life.
func (r *run) born(ctx context.Context, s script, i int) (*actor, error) {
	l := s.lives[i]
	who := fmt.Sprintf("%d.%d", s.lifecycle, i+1)
	p := &crawl.Proxy{
		ObjectMeta: metav1.ObjectMeta{Namespace: kubeNamespace, Name: fmt.Sprintf("c-%04d", s.lifecycle)},
		Spec: crawl.ProxySpec{
			Mode: crawl.ModeManaged, Provider: providerNames[s.lifecycle%len(providerNames)], Port: crawl.DefaultPort,
			Attributes:  map[string]string{attributeWho: who},
			Replacement: &crawl.Replacement{DrainTimeout: &metav1.Duration{Duration: l.drain}},
			HealthCheck: &crawl.HealthCheck{Interval: &metav1.Duration{Duration: time.Second}, FailureThreshold: 2},
		},
	}
	if l.secretAuth {
		p.Spec.AuthSecretRef = &crawl.LocalSecretRef{Name: authSecret(s.lifecycle)}
	}
	if l.secretCloudInit {
		p.Spec.CloudInit = cloudInit(s.lifecycle, true, 0)
	}
	a := &actor{run: r, lifecycle: s.lifecycle, ref: wire.ProxyRef{Namespace: p.Namespace, Name: p.Name}}
	if err := a.writeSecrets(ctx, uint64(i)); err != nil { // #nosec G115 -- counts lives
		return nil, err
	}
	err := insist(ctx, "create Proxy "+p.Name, func(ctx context.Context) error { return r.create(ctx, p, who) })
	if err != nil {
		return nil, err
	}
	a.ref.UID = string(p.UID)
	// What is told of the object belongs to it from the start.
	return a, r.observer.await(ctx, a.ref.UID, func(*subject) bool { return true })
}

// create makes the object, or finds that a call whose answer was lost made it.
func (r *run) create(ctx context.Context, p *crawl.Proxy, who string) error {
	made := p.DeepCopy()
	err := r.live.Create(ctx, made)
	if apierrors.IsAlreadyExists(err) {
		found := r.live.Get(ctx, client.ObjectKeyFromObject(p), made)
		if found != nil || made.Spec.Attributes[attributeWho] != who {
			return errors.Join(err, found)
		}
		err = nil
	}
	if err == nil {
		*p = *made
	}
	return err
}

func (a *actor) act(ctx context.Context, l life) error {
	for _, st := range l.steps {
		a.awaitMoment(ctx, st.once)
		if err := linger(ctx, st.after); err != nil {
			return err
		}
		if err := a.do(ctx, st); err != nil {
			return err
		}
	}
	return nil
}

// awaitMoment waits until a step is due, but not for long.
func (a *actor) awaitMoment(ctx context.Context, m moment) {
	limited, stop := context.WithTimeout(ctx, momentTimeout)
	defer stop()
	_ = a.observer.await(limited, a.ref.UID, func(s *subject) bool {
		switch m {
		case onceReady:
			return s.gone || current(s.now)
		case onceTrying:
			return s.gone || trying(s.now)
		}
		return true
	})
}

// end deletes the object in its way, and holds the run to what must follow.
func (a *actor) end(ctx context.Context, l life) error {
	var err error
	switch l.ending {
	case convergedFirst, stays:
		err = errors.Join(a.undos.Wait(), a.converge(ctx, l.ending == stays))
	case abandoned:
		a.observer.abandon(a.ref.UID)
		err = a.annotate(ctx, crawl.AnnotationSkipCleanup, "true")
	}
	if err != nil {
		return err
	}
	if err := a.delete(ctx); err != nil {
		return err
	}
	if l.ending == abandonedMidway {
		a.observer.abandon(a.ref.UID)
		if err := a.annotate(ctx, crawl.AnnotationSkipCleanup, "true"); err != nil {
			return err
		}
	}
	if err := a.within(ctx, goneLimit, "the object is not gone", func(s *subject) bool { return s.gone }); err != nil {
		return err
	}
	if err := errors.Join(a.undos.Wait(), a.awaitEnded(ctx)); err != nil {
		return err
	}
	return a.readHistories(ctx)
}

// converge waits until the proxy is Ready as asked for, and, if it stays, until all is
// quiet. What failed for good, or waits for room, needs somebody to act, also when a
// Secret or an instance that went is noticed only later.
func (a *actor) converge(ctx context.Context, stays bool) error {
	nudging, stop := context.WithCancel(ctx)
	var nudges sync.WaitGroup
	nudges.Go(func() { a.nudge(nudging) })
	defer nudges.Wait()
	defer stop()
	err := a.within(ctx, convergeLimit, "the proxy is not Ready", func(s *subject) bool { return current(s.now) })
	if err == nil && stays {
		a.settled.Done()
		err = wait(ctx, a.quiet)
	}
	return err
}

func (a *actor) nudge(ctx context.Context) {
	for i := 0; linger(ctx, nudgeEvery) == nil; i++ {
		if s, _ := a.observer.find(a.ref.UID); s.now.Status.Phase == crawl.PhaseFailed || s.now.Status.Phase == crawl.PhaseWaiting {
			_ = a.annotate(ctx, crawl.AnnotationReplace, "nudge-"+strconv.Itoa(i)) // it fails only when ctx ends
		}
	}
}

// within fails the run when the object is not as wanted in time.
func (a *actor) within(ctx context.Context, limit time.Duration, what string, wanted func(*subject) bool) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := a.observer.await(limited, a.ref.UID, wanted)
	if err != nil && ctx.Err() == nil {
		a.fail(&violation{stuck, a.ref.UID, what + " after " + limit.String()})
	}
	return err
}

func (a *actor) delete(ctx context.Context) error {
	a.observer.note(a.ref.UID, "script  delete")
	uid := types.UID(a.ref.UID)
	return insist(ctx, "delete Proxy "+a.ref.String(), func(ctx context.Context) error {
		p := &crawl.Proxy{ObjectMeta: metav1.ObjectMeta{Namespace: a.ref.Namespace, Name: a.ref.Name}}
		return client.IgnoreNotFound(a.live.Delete(ctx, p, client.Preconditions{UID: &uid}))
	})
}

// awaitEnded waits until no workflow of the object runs.
func (a *actor) awaitEnded(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, endedLimit)
	defer cancel()
	err := insist(limited, "wait for the end of the workflow", func(ctx context.Context) error {
		running, err := a.signaller.Running(ctx, a.ref)
		if running {
			err = errors.New("it runs")
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		a.fail(&violation{stuck, a.ref.UID, "the object is gone, and its workflow does not end: " + err.Error()})
	}
	return err
}
