package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon"
	"example.com/fairlead/activities/addon/charts"
	"example.com/fairlead/activities/addon/cluster"
	"example.com/fairlead/activities/addon/kept"
	"example.com/fairlead/activities/addon/look"
	"example.com/fairlead/activities/addon/render/child"
	"example.com/fairlead/activities/addon/setstore"
	"example.com/fairlead/activities/addon/source"
	"example.com/fairlead/activities/git"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/worker"
)

// addonSettings are those of the part that keeps add-ons.
type addonSettings struct {
	// system is the namespace of what add-ons need beside their objects.
	system     string
	gitBaseURL string
	// cacheDir of charts and git; empty for that of the user.
	cacheDir string
}

func defaultAddonSettings() addonSettings {
	return addonSettings{system: "fairlead-system", gitBaseURL: "https://github.com"}
}

const flagSystem = "system-namespace"

func (s *addonSettings) addFlags(f *pflag.FlagSet) {
	s.addSystemFlag(f)
	f.StringVar(&s.cacheDir, flagCacheDir, "", "`directory` for charts and git repositories of add-ons, of this process alone (default: fairlead in the user's cache directory)")
	s.addGitFlag(f)
}

// addSystemFlag is for the worker and the HTTP API, which reads the plans that it made.
func (s *addonSettings) addSystemFlag(f *pflag.FlagSet) {
	f.StringVar(&s.system, flagSystem, s.system, "Kubernetes `namespace` of what add-ons are rendered to, of the Secrets and ConfigMaps that Addons name, and of the service account that acts for them")
}

func (s *addonSettings) addGitFlag(f *pflag.FlagSet) {
	f.StringVar(&s.gitBaseURL, "git-base-url", s.gitBaseURL, "`URL` that a git source called owner/name is below; empty for none")
}

// identity is who acts for add-ons.
func (s *addonSettings) identity() string {
	return fmt.Sprintf("system:serviceaccount:%s:%s", s.system, addons.ServiceAccount)
}

// remedy is for an installation that lacks what add-ons need.
const remedy = "kubectl apply -f deploy/rbac, or leave add-ons out with --only " + onlyProxies

// addonOptions are for the worker.
func (p *parts) addonOptions(ctx context.Context, workflows addon.Workflows) (*worker.AddonOptions, error) {
	s := p.addons
	if err := checkSystemNamespace(ctx, p.live, s.system); err != nil {
		return nil, err
	}
	c, err := cluster.Open(p.rest, s.identity())
	if err != nil {
		return nil, err
	}
	if err := checkIdentity(ctx, c.Client, s.identity()); err != nil {
		return nil, err
	}
	sets, err := setstore.Open(ctx, setstore.Options{Client: p.live, Namespace: s.system, Clock: clock.RealClock{}, Random: rand.Reader})
	if err != nil {
		return nil, err
	}
	store := kept.Store{Store: sets}
	sources, err := p.addonSources(c, store)
	if err != nil {
		return nil, err
	}
	looker := &look.Looker{Sources: sources, Cluster: c, Store: store, Now: time.Now}
	return &worker.AddonOptions{
		Activities: addon.Activities{Client: p.live, Look: looker, Store: store, System: s.system, Log: p.log, Now: time.Now},
		Sweep:      &addon.Sweep{Client: p.mgr.GetClient(), Look: looker, Workflows: workflows, Parallel: looksAtATime, Log: p.log},
	}, nil
}

// looksAtATime is how many add-ons a sweep looks at at the same time.
const looksAtATime = 8

// self is the program that runs, also after another one was put in its place.
const self = "/proc/self/exe"

// addonSources fetch and render. The children that render end with this process.
func (p *parts) addonSources(c *cluster.Cluster, store kept.Store) (*source.Sources, error) {
	dir, err := p.openCache()
	if err != nil {
		return nil, err
	}
	renderer := &child.Renderer{Command: []string{self, renderChildName}}
	if err := p.mgr.Add(anyReplica(func(ctx context.Context) error {
		<-ctx.Done()
		renderer.Close()
		return nil
	})); err != nil {
		return nil, fmt.Errorf("add the renderer of charts: %w", err)
	}
	return &source.Sources{
		Charts:    &charts.Fetcher{Dir: filepath.Join(dir, "charts")},
		Git:       &git.Reader{Dir: filepath.Join(dir, "git")},
		Renderer:  renderer,
		Cluster:   c,
		Client:    p.live,
		Namespace: p.addons.system,
		GitBase:   p.addons.gitBaseURL,
		Hash:      store.Hash,
	}, nil
}

func checkSystemNamespace(ctx context.Context, live client.Reader, name string) error {
	err := live.Get(ctx, types.NamespacedName{Name: name}, &corev1.Namespace{})
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("keep add-ons: there is no namespace %q (--%s): %s", name, flagSystem, remedy)
	}
	return nil // whoever may not read namespaces may still use them
}

// checkIdentity asks the API server, through as, who it is.
func checkIdentity(ctx context.Context, as client.Client, identity string) error {
	err := as.Create(ctx, &authenticationv1.SelfSubjectReview{})
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("keep add-ons: the account of this process may not act as %s (--%s): %s: %w", identity, flagSystem, remedy, err)
	case err != nil:
		return fmt.Errorf("keep add-ons: ask who %s is: %w", identity, err)
	}
	return nil
}
