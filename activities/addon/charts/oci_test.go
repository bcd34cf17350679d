package charts

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/registry"
	godigest "github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"
)

// newRegistry is a real registry, behind a site that remembers and may refuse.
func newRegistry(t *testing.T, s *site) *site {
	t.Helper()
	handler := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	s.answer = func(w http.ResponseWriter, r *http.Request) bool {
		handler.ServeHTTP(w, r)
		return true
	}
	return s
}

// behind lets gate answer first.
func (s *site) behind(gate func(http.ResponseWriter, *http.Request) bool) {
	inner := s.answer
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = func(w http.ResponseWriter, r *http.Request) bool { return gate(w, r) || inner(w, r) }
}

// host is as in oci://host.
func (s *site) host() string {
	return strings.TrimPrefix(strings.TrimPrefix(s.URL, "http://"), "https://")
}

func describe(mediaType string, content []byte) ocispec.Descriptor {
	return ocispec.Descriptor{MediaType: mediaType, Digest: godigest.FromBytes(content), Size: int64(len(content))}
}

// push uploads as Helm does, with media types of the caller's choice.
func (s *site) push(t *testing.T, path, tag, configType, layerType string, layer []byte) {
	t.Helper()
	repo, err := remote.NewRepository(s.host() + "/" + path)
	must(t, err)
	repo.PlainHTTP, repo.Client = s.TLS == nil, s.Client()
	config := []byte(`{"name":"shop"}`)
	must(t, repo.Push(t.Context(), describe(configType, config), bytes.NewReader(config)))
	must(t, repo.Push(t.Context(), describe(layerType, layer), bytes.NewReader(layer)))
	manifest, err := json.Marshal(ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest,
		Config: describe(configType, config), Layers: []ocispec.Descriptor{describe(layerType, layer)},
	})
	must(t, err)
	must(t, repo.PushReference(t.Context(), describe(ocispec.MediaTypeImageManifest, manifest), bytes.NewReader(manifest), tag))
}

func (s *site) pushShop(t *testing.T, versions ...string) {
	t.Helper()
	for _, version := range versions {
		s.push(t, "team/shop", tagOf(version), chartConfig, chartLayer, chart(t, "shop", version))
	}
}

func (s *site) ociSource(version string) Source {
	return Source{Repo: "oci://" + s.host() + "/team", Chart: "shop", Version: version}
}

func TestVersionsOfARegistry(t *testing.T) {
	s := newRegistry(t, newSite(t))
	s.pushShop(t, "1.2.0", "v1.10.0", "1.9.0+b2", "2.0.0-rc.1")
	s.push(t, "team/shop", "latest", chartConfig, chartLayer, chart(t, "shop", "7.7.7"))
	f, _ := newFetcher(t)
	for _, tt := range []struct {
		name, version, want string
	}{
		{"none is the newest that is no pre-release", "", "v1.10.0"},
		{"an exact one", "1.2.0", "1.2.0"},
		{"an exact one without its v", "1.10.0", "v1.10.0"},
		{"an exact one with a v too much", "v1.2.0", "1.2.0"},
		{"an exact one with its build", "1.9.0+b2", "1.9.0+b2"},
		{"a range", "<1.10", "1.9.0+b2"},
		{"a range that names a pre-release", ">=1.0.0-0", "2.0.0-rc.1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, content, err := get(t.Context(), f, s.ociSource(tt.version), nil)
			must(t, err)
			packed := chart(t, "shop", tt.want)
			want := Resolved{
				Source: s.ociSource(tt.version), Version: tt.want, Digest: digest(packed),
				URL: "oci://" + s.host() + "/team/shop:" + tagOf(tt.want),
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if string(content) != string(packed) {
				t.Error("the archive is not what was pushed")
			}
		})
	}
	for _, tt := range []struct{ name, version, want string }{
		{"a range that nothing is in", ">=3", "v1.10.0"},
		{"an exact one that is not there", "1.2.1", "404"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := f.Resolve(t.Context(), s.ociSource(tt.version), nil)
			fails(t, err, ErrPermanent, tt.want, s.host())
		})
	}
}

func TestChartsThatARegistryShouldNotHave(t *testing.T) {
	s := newRegistry(t, newSite(t))
	packed := chart(t, "shop", "1.0.0")
	s.push(t, "team/shop", "1.0.0", ocispec.MediaTypeImageConfig, ocispec.MediaTypeImageLayer, packed)
	s.push(t, "team/shop", "1.1.0", chartConfig, ocispec.MediaTypeImageLayer, packed)
	s.push(t, "team/shop", "1.2.0", chartConfig, chartLayer, bytes.Repeat([]byte("x"), 2<<20))
	s.push(t, "team/shop", "1.3.0", chartConfig, chartLayerLegacy, packed)
	s.pushShop(t, "2.0.0", "2.1.0")
	s.behind(func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case strings.HasSuffix(r.URL.Path, "/manifests/2.0.0"):
			w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
			w.Header().Set("Docker-Content-Digest", digest([]byte("else")))
			_, _ = io.WriteString(w, "{}")
		case strings.HasSuffix(r.URL.Path, "/blobs/"+digest(chart(t, "shop", "2.1.0"))):
			_, _ = io.WriteString(w, "something else")
		default:
			return false
		}
		return true
	})
	f, _ := newFetcher(t)
	f.Limits.ArchiveBytes = 1 << 20
	for _, tt := range []struct{ name, version, want string }{
		{"an image", "1.0.0", "it is no Helm chart but"},
		{"a chart without an archive", "1.1.0", "no archive of a Helm chart"},
		{"a large archive", "1.2.0", "larger than 1 MiB"},
		{"a manifest with another digest", "2.0.0", "mismatch"},
		{"an archive with another digest", "2.1.0", "what came has the digest"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := get(t.Context(), f, s.ociSource(tt.version), nil)
			fails(t, err, ErrPermanent, tt.want, s.host()+"/team/shop:"+tt.version)
		})
	}
	t.Run("but what Helm pushed at first is a chart", func(t *testing.T) {
		if _, _, err := get(t.Context(), f, s.ociSource("1.3.0"), nil); err != nil {
			t.Error(err)
		}
	})
}

func TestIndexThatRefersToARegistry(t *testing.T) {
	s, r := newSite(t), newRegistry(t, newSite(t))
	r.pushShop(t, "1.0.0")
	packed := chart(t, "shop", "1.0.0")
	for _, indexed := range []string{digest(packed), ""} {
		t.Run("with the digest "+indexed, func(t *testing.T) {
			s.shopAt(indexed, "oci://"+r.host()+"/team/shop:1.0.0")
			f, _ := newFetcher(t)
			got, content, err := get(t.Context(), f, s.source(""), &Credentials{Token: secret})
			if err != nil || got.Digest != digest(packed) || string(content) != string(packed) {
				t.Errorf("digest %s, error %v", got.Digest, err)
			}
			for _, asked := range r.asked {
				if strings.Contains(asked.Header.Get("Authorization"), secret) {
					t.Error("the registry got the credentials of the repository")
				}
			}
		})
	}
}
