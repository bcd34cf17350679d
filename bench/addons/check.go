package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addons "example.com/fairlead/api/addons/v1alpha1"
)

// labelSets is on what is kept of an add-on in the system namespace.
const labelSets = "sets.rendimiento.ai/addon"

// check holds the cluster, and what the status tells, to the chart after a sync.
func (l *life) check(ctx context.Context, st addons.AddonStatus) error {
	if v := l.checkHistory(st.History); v != nil {
		return v
	}
	want := l.applied()
	if v := l.compare("status.objects", want, l.inventory(st.Objects), broken, broken); v != nil {
		return v
	}
	if err := l.checkObjects(ctx, append(want, l.hooks(false)...)); err != nil {
		return err
	}
	if err := l.checkContent(ctx); err != nil {
		return err
	}
	return l.checkJobs(false)
}

// checkHistory holds the history to telling of each sync once.
func (l *life) checkHistory(history []addons.HistoryEntry) error {
	if len(history) != l.syncs {
		return violated(broken, "the history tells of %d syncs, not %d: %v", len(history), l.syncs, history)
	}
	for i, h := range history {
		if h.Outcome != addons.OutcomeSucceeded {
			return violated(broken, "sync %d of the history: %s: %s", i+1, h.Outcome, h.Message)
		}
	}
	const drift = 1
	if len(history) > drift && !strings.HasPrefix(history[drift].Message, "healed: ") {
		return violated(broken, "the history does not tell that the drift was healed: %s", history[drift].Message)
	}
	return nil
}

// applied are the objects of the chart.
func (l *life) applied() []string {
	all := append(l.kept(), "ConfigMap/settings", "Deployment/web", "Secret/login", "ServiceAccount/web", "Widget/main")
	if l.version == firstVersion {
		all = append(all, "ConfigMap/old")
	}
	return all
}

// kept are those that are never deleted.
func (l *life) kept() []string {
	return []string{"CustomResourceDefinition/widgets." + group(l.name), "Namespace/" + l.name}
}

// ran says whether a hook has run by now.
func (l *life) ran(h hookOf, gone bool) bool {
	return strings.HasSuffix(h.event, "-install") || strings.HasSuffix(h.event, "-upgrade") && l.version == secondVersion || gone
}

// hooks are the Jobs that hooks have left, as their policies say.
func (l *life) hooks(gone bool) (all []string) {
	for _, h := range hookJobs {
		if h.stays && l.ran(h, gone) {
			all = append(all, "Job/"+h.name)
		}
	}
	return all
}

func (l *life) inventory(refs []addons.ObjectRef) (all []string) {
	for _, r := range refs {
		all = append(all, r.Kind+"/"+r.Name)
	}
	return all
}

// checkGone holds the cluster to an uninstall.
func (l *life) checkGone(ctx context.Context) error {
	if err := l.checkObjects(ctx, append(l.kept(), l.hooks(true)...)); err != nil {
		return err
	}
	var sets corev1.SecretList
	if err := l.client.List(ctx, &sets, client.InNamespace(systemNamespace), client.MatchingLabels{labelSets: l.name}); err != nil {
		return err
	}
	if len(sets.Items) > 0 {
		return violated(leftBehind, "%d Secrets of renders and plans", len(sets.Items))
	}
	return l.checkJobs(true)
}

// checkJobs holds each hook to having succeeded once, and no run of one to two Jobs.
func (l *life) checkJobs(gone bool) error {
	made := l.cluster.made(l.name)
	for _, h := range hookJobs {
		want, most := 0, 0
		if l.ran(h, gone) {
			want, most = 1, 1
			if h.fails {
				most++
			}
		}
		jobs, runs, succeeded := made[h.name], map[string]bool{}, 0
		for _, j := range jobs {
			runs[j.run] = true
			if j.succeeded {
				succeeded++
			}
		}
		switch {
		case len(jobs) > most || succeeded > want || len(runs) < len(jobs):
			return violated(hookTwice, "hook %s (%s) was made %d times, not %d: %+v", h.name, h.event, len(jobs), most, jobs)
		case succeeded < want:
			return violated(broken, "hook %s (%s) has not succeeded: %+v", h.name, h.event, jobs)
		}
	}
	return nil
}

// checkContent looks into what was changed, and what is secret.
func (l *life) checkContent(ctx context.Context) error {
	var settings corev1.ConfigMap
	var login corev1.Secret
	err := errors.Join(
		l.client.Get(ctx, client.ObjectKey{Namespace: l.name, Name: "settings"}, &settings),
		l.client.Get(ctx, client.ObjectKey{Namespace: l.name, Name: "login"}, &login),
	)
	if err != nil {
		return err
	}
	if settings.Data["color"] != "blue" || settings.Data["version"] != l.version {
		return violated(objectLost, "ConfigMap settings is %v", settings.Data)
	}
	if string(login.Data["password"]) != l.canary {
		return violated(objectLost, "Secret login is not as the values say")
	}
	return nil
}

// checkObjects holds all that is in the namespace, and what else has the label of the add-on,
// to a list.
func (l *life) checkObjects(ctx context.Context, want []string) error {
	got, err := l.found(ctx)
	if err != nil {
		return err
	}
	if v := l.compare("the cluster", want, got, objectLost, leftBehind); v != nil {
		return v
	}
	return nil
}

// compare tells what is missing in what was found, or too much.
func (l *life) compare(where string, want, got []string, missing, extra verdict) error {
	lacks := slices.DeleteFunc(slices.Clone(want), func(o string) bool { return slices.Contains(got, o) })
	more := slices.DeleteFunc(slices.Clone(got), func(o string) bool { return slices.Contains(want, o) })
	switch {
	case len(lacks) > 0:
		return violated(missing, "%s lacks %v, and has %v that it should not", where, lacks, more)
	case len(more) > 0:
		return violated(extra, "%s has %v that it should not", where, more)
	case len(got) != len(want):
		return violated(broken, "%s has something twice: %v", where, got)
	}
	return nil
}

// found lists all that is there of the add-on, by kind and name.
func (l *life) found(ctx context.Context) (all []string, err error) {
	lists, err := discovery.ServerPreferredResources(l.kinds)
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) { // a kind of another life has just gone
		return nil, fmt.Errorf("list the kinds of the cluster: %w", err)
	}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, fmt.Errorf("list the kinds of the cluster: %w", err)
		}
		if strings.HasSuffix(version.Group, strings.TrimPrefix(group(""), ".")) && version.Group != group(l.name) {
			continue // of another life
		}
		for _, kind := range list.APIResources {
			names, err := l.foundOf(ctx, version.WithResource(kind.Name), kind)
			if err != nil {
				return nil, err
			}
			all = append(all, names...)
		}
	}
	return all, nil
}

func (l *life) foundOf(ctx context.Context, resource schema.GroupVersionResource, kind metav1.APIResource) (names []string, err error) {
	if !slices.Contains(kind.Verbs, "list") || kind.Kind == "Event" {
		return nil, nil
	}
	of, options := l.objects.Resource(resource).Namespace(l.name), metav1.ListOptions{}
	if !kind.Namespaced {
		of, options.LabelSelector = l.objects.Resource(resource), addons.LabelAddon+"="+l.name
	}
	list, err := of.List(ctx, options)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("list %s: %w", resource.Resource, err)
	}
	if err == nil {
		for _, o := range list.Items {
			names = append(names, kind.Kind+"/"+o.Name)
		}
	}
	return names, nil
}
