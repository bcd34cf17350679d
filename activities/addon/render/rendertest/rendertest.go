// Package rendertest renders charts in the process of a test.
package rendertest

import (
	"context"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/render"
)

// InProcess renders charts in this process. A chart that overflows the stack ends it.
type InProcess struct{}

// Chart renders the chart of an archive.
func (InProcess) Chart(ctx context.Context, archive []byte, req render.Request) (manifest.Set, []render.Answer, render.Digest, error) {
	packed, err := render.Archive(archive)
	if err != nil {
		return manifest.Set{}, nil, render.Digest{}, err
	}
	digest, err := req.Digest(packed)
	if err != nil {
		return manifest.Set{}, nil, render.Digest{}, err
	}
	result, err := render.Chart(ctx, packed, req)
	if err != nil {
		return manifest.Set{}, nil, render.Digest{}, err
	}
	set, err := result.Set()
	return set, result.Answers, digest, err
}
