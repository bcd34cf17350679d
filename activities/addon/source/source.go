// Package source makes of an add-on's spec what is to be applied.
package source

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon/charts"
	"example.com/fairlead/activities/addon/kept"
	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/mask"
	"example.com/fairlead/activities/addon/render"
	"example.com/fairlead/activities/git"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/internal/text"
)

const (
	// maxError and maxWarning are how long texts for people may be.
	maxError   = 4096
	maxWarning = 1024
)

// errNoSource is of an object that the API server would not have let pass.
var errNoSource = errors.New("it has no source: set spec.source.helm or spec.source.git")

// Sources are the ways to charts and folders, and what they are rendered for.
type Sources struct {
	Charts   *charts.Fetcher
	Git      *git.Reader
	Renderer Renderer
	Cluster  Cluster
	// Client reads Secrets and ConfigMaps, as this component and not as add-ons.
	Client client.Reader
	// Namespace is the one that Fairlead runs in.
	Namespace string
	// GitBase is the URL that a repository called owner/name is below; empty for none.
	GitBase string
	// Hash is keyed: what it is told may hold secrets.
	Hash func([]byte) string
}

// Renderer renders packaged charts.
type Renderer interface {
	Chart(ctx context.Context, archive []byte, req render.Request) (set manifest.Set, answers []render.Answer, digest render.Digest, err error)
}

// Cluster is what add-ons are rendered for.
type Cluster interface {
	Capabilities(ctx context.Context) (caps render.Capabilities, partial string, err error)
	Lookup(ctx context.Context, q render.Question) (map[string]any, error)
	Scope() manifest.Scope
}

// Rendered is what is to be applied.
type Rendered struct {
	kept.Render

	// Secrets are to be masked besides the values of the Secrets in Set.
	Secrets [][]byte
	// Warning is for people.
	Warning string
	// Partial says which kinds of the cluster are not known, so that something may be missing
	// in Set; empty for none.
	Partial string
	// Known is which of the known renders has the same Set and Content, or -1. The commit, and
	// with it Revision, Version and Digest, may be another one.
	Known int
}

// Render renders the source of a. What was random in a known render stays as it is there, for
// as long as the chart, its values and its names do. Its errors tell no secret, and are
// fetch.ErrPermanent where the source has to be changed.
func (s *Sources) Render(ctx context.Context, a *addons.Addon, known ...kept.Render) (Rendered, error) {
	in, err := s.read(ctx, a)
	if err == nil {
		var r Rendered
		if r, err = s.render(ctx, a, in, known); err == nil {
			r.Secrets = in.secrets
			return r, nil
		}
	}
	return Rendered{}, shown(fmt.Errorf("%s: %w", described(a), err), in.secrets)
}

// Secrets are those of Rendered, as far as they are still there.
func (s *Sources) Secrets(ctx context.Context, a *addons.Addon) ([][]byte, error) {
	in, err := s.read(ctx, a)
	if err != nil && !isMissing(err) {
		return nil, shown(fmt.Errorf("read the secrets of add-on %s: %w", a.Name, err), in.secrets)
	}
	return in.secrets, nil
}

func (s *Sources) render(ctx context.Context, a *addons.Addon, in inputs, known []kept.Render) (Rendered, error) {
	caps, partial, err := s.Cluster.Capabilities(ctx)
	if err != nil {
		return Rendered{}, err
	}
	var r Rendered
	switch {
	case a.Spec.Source.Helm != nil:
		r, err = s.chart(ctx, a, in, caps, known)
	case a.Spec.Source.Git != nil:
		r, err = s.folder(ctx, a, in, known)
	default:
		err = errNoSource
	}
	r.Partial = partial
	return r, err
}

// finished is a rendered set as it is applied.
func (s *Sources) finished(a *addons.Addon, set manifest.Set) (manifest.Set, error) {
	if a.Spec.SkipHooks {
		set.Hooks = nil
	}
	if a.Spec.CreateNamespace {
		set = manifest.WithNamespace(set, a.Spec.Namespace, "spec.createNamespace")
	}
	set = manifest.Place(set, manifest.Placement{Namespace: a.Spec.Namespace, Scope: s.Cluster.Scope()}).Set
	set = manifest.Label(set, addons.LabelAddon, a.Name)
	return set, manifest.Check(set)
}

// described is the source in words.
func described(a *addons.Addon) string {
	switch in := a.Spec.Source; {
	case in.Helm != nil:
		return fmt.Sprintf("chart %s %s of %s", in.Helm.Chart, in.Helm.Version, in.Helm.Repo)
	case in.Git != nil:
		return fmt.Sprintf("folder %s of %s", in.Git.Path, in.Git.Repo)
	}
	return "add-on " + a.Name
}

// shown is err without secrets, and without its middle if it is long.
func shown(err error, secrets [][]byte) error {
	return mask.New(secrets).Error(err, func(s string) string { return text.Middle(s, maxError) })
}
