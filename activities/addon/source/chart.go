package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"

	"example.com/fairlead/activities/addon/charts"
	"example.com/fairlead/activities/addon/kept"
	"example.com/fairlead/activities/addon/render"
	"example.com/fairlead/activities/fetch"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

func (s *Sources) chart(ctx context.Context, a *addons.Addon, in inputs, caps render.Capabilities, known []kept.Render) (Rendered, error) {
	values, err := in.values(a)
	if err != nil {
		return Rendered{}, err
	}
	archive, found, err := s.fetch(ctx, a.Spec.Source.Helm, in.credentials)
	if err != nil {
		return Rendered{}, err
	}
	req := render.Request{
		Release: cmp.Or(a.Spec.ReleaseName, a.Name), Namespace: a.Spec.Namespace, Values: values, Capabilities: caps,
		OwnAPIs: true, Lookup: s.Cluster.Lookup, Hash: s.Hash, Secrets: in.secrets,
	}
	input, err := req.DigestOf(render.ArchiveDigest(archive))
	if err != nil {
		return Rendered{}, err
	}
	wanted := kept.Render{
		Revision: path.Base(found.Chart) + "-" + found.Version, Version: found.Version, Digest: found.Digest,
		Content: s.content(a, input), Input: input,
	}
	return s.reuse(ctx, rendering{addon: a, archive: archive, req: req}, wanted, known)
}

// content is the digest of what is wished for: unlike a render, it does not move with the
// cluster.
func (s *Sources) content(a *addons.Addon, input render.Digest) string {
	return s.Hash(fmt.Appendf(nil, "chart %s createNamespace=%t skipHooks=%t", input.Content, a.Spec.CreateNamespace, a.Spec.SkipHooks))
}

func (s *Sources) fetch(ctx context.Context, in *addons.HelmSource, c *fetch.Credentials) ([]byte, charts.Resolved, error) {
	found, err := s.Charts.Resolve(ctx, charts.Source{Repo: in.Repo, Chart: in.Chart, Version: in.Version}, c)
	if err != nil {
		return nil, found, err
	}
	archive, err := s.Charts.Fetch(ctx, found, c)
	if err != nil {
		return nil, found, err
	}
	data, err := io.ReadAll(archive.Reader())
	if err = errors.Join(err, archive.Close()); err != nil {
		return nil, found, fmt.Errorf("read the archive of version %s from the cache: %w", found.Version, err)
	}
	return data, found, nil
}
