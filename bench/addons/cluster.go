package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addons "example.com/fairlead/api/addons/v1alpha1"
)

// jobTakes is how long a hook works: long enough to be killed in.
const jobTakes = 200 * time.Millisecond

// cluster does what controllers and nodes do, of which there are none: Jobs succeed, and
// Deployments are up. It writes down every Job that was ever made.
type cluster struct {
	client client.WithWatch
	stop   func(error)

	work sync.WaitGroup
	mu   sync.Mutex
	jobs map[types.UID]job
}

// job is a Job that was made.
type job struct {
	namespace, name, run string
	succeeded            bool
}

// run watches until ctx ends. A Job that is made and gone between two watches would be
// missed, so the first watch that ends is the end.
func (c *cluster) run(ctx context.Context) error {
	c.jobs = map[types.UID]job{}
	jobs, err := c.client.Watch(ctx, &batchv1.JobList{})
	if err != nil {
		return fmt.Errorf("watch Jobs: %w", err)
	}
	deployments, err := c.client.Watch(ctx, &appsv1.DeploymentList{})
	if err != nil {
		jobs.Stop()
		return fmt.Errorf("watch Deployments: %w", err)
	}
	for _, w := range []watch.Interface{jobs, deployments} {
		c.work.Go(func() {
			defer w.Stop()
			for e := range w.ResultChan() {
				c.seen(ctx, e)
			}
			if ctx.Err() == nil {
				c.stop(errors.New("a watch of the API server has ended: what was made since is not known"))
			}
		})
	}
	return nil
}

func (c *cluster) seen(ctx context.Context, e watch.Event) {
	switch o := e.Object.(type) {
	case *batchv1.Job:
		c.mu.Lock()
		_, known := c.jobs[o.UID]
		first := !known && !c.has(o.Namespace, o.Name)
		c.jobs[o.UID] = job{o.Namespace, o.Name, o.Annotations[addons.AnnotationHookRun], c.jobs[o.UID].succeeded || o.Status.Succeeded > 0}
		c.mu.Unlock()
		if !known {
			c.work.Go(func() { c.finish(ctx, o.DeepCopy(), first && failsFirst(o.Name)) })
		}
	case *appsv1.Deployment:
		if e.Type != watch.Deleted && o.Status.ObservedGeneration != o.Generation {
			c.raise(ctx, o)
		}
	}
}

// has says whether a Job of that name was made before.
func (c *cluster) has(namespace, name string) bool {
	for _, j := range c.jobs {
		if j.namespace == namespace && j.name == name {
			return true
		}
	}
	return false
}

func failsFirst(name string) bool {
	return slices.ContainsFunc(hookJobs, func(h hookOf) bool { return h.fails && h.name == name })
}

// finish has a Job come to its end. One that is gone by then needs it no more.
func (c *cluster) finish(ctx context.Context, o *batchv1.Job, fails bool) {
	if linger(ctx, jobTakes) != nil {
		return
	}
	now := metav1.Now()
	o.Status = batchv1.JobStatus{StartTime: &now}
	end := []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete}
	if fails {
		o.Status.Failed = 1
		end = []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed}
	} else {
		o.Status.Succeeded, o.Status.CompletionTime = 1, &now
	}
	for _, t := range end {
		o.Status.Conditions = append(o.Status.Conditions, batchv1.JobCondition{Type: t, Status: corev1.ConditionTrue, LastProbeTime: now, LastTransitionTime: now})
	}
	o.ResourceVersion = ""
	if err := c.client.Status().Update(ctx, o); client.IgnoreNotFound(err) != nil && ctx.Err() == nil {
		c.stop(fmt.Errorf("finish Job %s/%s: %w", o.Namespace, o.Name, err))
	}
}

// raise has the pods of a Deployment be up.
func (c *cluster) raise(ctx context.Context, o *appsv1.Deployment) {
	o.Status = appsv1.DeploymentStatus{
		ObservedGeneration: o.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
		Conditions: []appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue},
			{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
		},
	}
	err := c.client.Status().Update(ctx, o)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) || ctx.Err() != nil {
		return // one that has changed is seen again
	}
	if err != nil {
		c.stop(fmt.Errorf("raise Deployment %s/%s: %w", o.Namespace, o.Name, err))
	}
}

// made are the Jobs that were made in a namespace, by name.
func (c *cluster) made(namespace string) map[string][]job {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string][]job{}
	for _, j := range c.jobs {
		if j.namespace == namespace {
			all[j.name] = append(all[j.name], j)
		}
	}
	return all
}

// linger lets time go by. It fails when ctx ends.
func linger(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
