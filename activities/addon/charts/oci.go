package charts

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	orasregistry "oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"

	"example.com/fairlead/activities/fetch"
)

// Media types of Helm, and the one that it used first.
const (
	chartConfig      = "application/vnd.cncf.helm.config.v1+json"
	chartLayer       = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	chartLayerLegacy = "application/tar+gzip"
)

const (
	maxManifest = 1 << 20
	// maxTags bounds what is kept of a list of tags, and maxTagPages how long it is read.
	maxTags     = 100_000
	maxTagPages = 1000
)

// resolveOCI finds the tag of a version, and in its manifest the archive.
func (f *Fetcher) resolveOCI(ctx context.Context, repo *url.URL, src Source, creds *Credentials) (Resolved, error) {
	ctx, cancel := context.WithTimeout(ctx, f.Limits.Total)
	defer cancel()
	place := *repo
	place.Path = strings.TrimSuffix(place.Path, "/") + "/" + src.Chart
	place.RawPath, place.RawQuery = "", ""
	s := f.sessionFor(repo, creds)
	tags, err := f.tags(ctx, s, &place, src.Version)
	if err != nil {
		return Resolved{}, at(&place, err)
	}
	path := place.Path
	for i, tag := range tags {
		place.Path = path + ":" + tag
		layer, err := f.layer(ctx, s, &place)
		if isNotFound(err) && i < len(tags)-1 {
			continue
		}
		if err != nil {
			return Resolved{}, at(&place, err)
		}
		return Resolved{Source: src, Version: versionOf(tag), Digest: layer.Digest.String(), URL: place.String()}, nil
	}
	return Resolved{}, at(&place, errNoChart)
}

// registryURL is where a registry is asked: in plain text only on this machine.
func registryURL(u *url.URL) *url.URL {
	scheme := fetch.SchemeHTTPS
	if fetch.IsLoopback(u.Hostname()) {
		scheme = fetch.SchemeHTTP
	}
	ref := orasregistry.Reference{Registry: u.Host}
	return &url.URL{Scheme: scheme, Host: ref.Host()}
}

// tags that a version can have. One that is exact needs no list.
func (f *Fetcher) tags(ctx context.Context, s *session, place *url.URL, want string) ([]string, error) {
	bareVersion := strings.TrimPrefix(want, "v")
	if _, err := semver.StrictNewVersion(bareVersion); err == nil {
		tags := []string{tagOf(want), tagOf(bareVersion), tagOf("v" + bareVersion)}
		return slices.Compact(tags), nil
	}
	repo, err := f.repository(s, place)
	if err != nil {
		return nil, err
	}
	var versions []string
	err = repo.Tags(ctx, "", func(page []string) error {
		for _, tag := range page {
			if _, err := semver.StrictNewVersion(strings.TrimPrefix(versionOf(tag), "v")); err == nil {
				versions = append(versions, versionOf(tag))
			}
		}
		if len(versions) > maxTags {
			return fetch.Permanent("it has more than %d versions", maxTags)
		}
		return nil
	})
	if err != nil {
		return nil, orPermanent(err)
	}
	i, err := pick(versions, want)
	if err != nil {
		return nil, err
	}
	return []string{tagOf(versions[i])}, nil
}

// Tags have no plus signs: Helm writes underscores instead.
func tagOf(version string) string { return strings.ReplaceAll(version, "+", "_") }

func versionOf(tag string) string { return strings.ReplaceAll(tag, "_", "+") }

// repository is for oci://registry/path, with or without a tag.
func (f *Fetcher) repository(s *session, place *url.URL) (*remote.Repository, error) {
	repo, err := remote.NewRepository(place.Host + place.Path)
	if err != nil {
		return nil, fetch.Permanent("%w", err)
	}
	home := registryURL(place)
	repo.PlainHTTP = home.Scheme == fetch.SchemeHTTP
	repo.ManifestMediaTypes = []string{ocispec.MediaTypeImageManifest}
	repo.TagListMaxPages = maxTagPages
	repo.Client = f.registryClient(s, home, repo.Reference.Repository)
	return repo, nil
}

// layer reads the manifest of a chart and finds its archive.
func (f *Fetcher) layer(ctx context.Context, s *session, place *url.URL) (ocispec.Descriptor, error) {
	repo, err := f.repository(s, place)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	desc, body, err := repo.Manifests().FetchReference(ctx, repo.Reference.Reference)
	if err != nil {
		return ocispec.Descriptor{}, orPermanent(err)
	}
	defer func() { _ = body.Close() }() // what counts was read, or has failed
	if desc.Size > maxManifest {
		return ocispec.Descriptor{}, fetch.Permanent("its manifest is larger than %d MiB", maxManifest>>20)
	}
	text, err := content.ReadAll(body, desc)
	if err != nil {
		return ocispec.Descriptor{}, orPermanent(err)
	}
	var manifest ocispec.Manifest
	if err := json.Unmarshal(text, &manifest); err != nil {
		return ocispec.Descriptor{}, fetch.Permanent("its manifest cannot be read: %w", err)
	}
	return f.archiveOf(manifest)
}

func (f *Fetcher) archiveOf(manifest ocispec.Manifest) (ocispec.Descriptor, error) {
	if manifest.Config.MediaType != chartConfig {
		return ocispec.Descriptor{}, fetch.Permanent("it is no Helm chart but %q", manifest.Config.MediaType)
	}
	i := slices.IndexFunc(manifest.Layers, func(d ocispec.Descriptor) bool {
		return d.MediaType == chartLayer || d.MediaType == chartLayerLegacy
	})
	switch {
	case i < 0:
		return ocispec.Descriptor{}, fetch.Permanent("it has no archive of a Helm chart among its layers")
	case !sha256Digest.MatchString(manifest.Layers[i].Digest.String()):
		return ocispec.Descriptor{}, fetch.Permanent("the digest of its archive is no SHA-256")
	case manifest.Layers[i].Size > f.Limits.ArchiveBytes:
		return ocispec.Descriptor{}, fetch.Permanent("its archive is larger than %d MiB", f.Limits.ArchiveBytes>>20)
	}
	return manifest.Layers[i], nil
}

// blob is the archive itself, as it comes.
func (f *Fetcher) blob(ctx context.Context, s *session, place *url.URL, digest string) (io.ReadCloser, error) {
	repo, err := f.repository(s, place)
	if err != nil {
		return nil, err
	}
	_, body, err := repo.Blobs().FetchReference(ctx, digest)
	if err != nil {
		return nil, orPermanent(err)
	}
	return body, nil
}

func isNotFound(err error) bool {
	var known *Error
	return errors.As(err, &known) && known.Status == http.StatusNotFound
}

// orPermanent gives a class to what a registry client says that is no failure of the
// connection: the registry answered something that it should not.
func orPermanent(err error) error {
	if fetch.HasClass(err) {
		return err
	}
	return fetch.Permanent("%w", err)
}
