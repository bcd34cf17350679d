package source

import (
	"context"
	"slices"

	"example.com/fairlead/activities/addon/kept"
	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/render"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

// rendering is a chart and what it is rendered for.
type rendering struct {
	addon   *addons.Addon
	archive []byte
	req     render.Request
}

// reuse renders what is wanted, unless a known render is what that would give. Where only the
// cluster has moved, or has other answers, what is random keeps its known values.
func (s *Sources) reuse(ctx context.Context, r rendering, wanted kept.Render, known []kept.Render) (Rendered, error) {
	for i, k := range known {
		if k.Content != wanted.Content || k.Input != wanted.Input {
			continue
		}
		same, err := s.answersStand(ctx, r.req, k.Answers)
		if err != nil {
			return Rendered{}, err
		}
		if same {
			return Rendered{Render: k, Known: i}, nil
		}
	}
	var err error
	if wanted.Set, wanted.Answers, wanted.Input, err = s.once(ctx, r); err != nil {
		return Rendered{}, err
	}
	base := slices.IndexFunc(known, func(k kept.Render) bool { return k.Input.Content == wanted.Input.Content })
	if base >= 0 {
		if wanted.Set, err = s.withKnown(ctx, r, known[base].Set, wanted.Set); err != nil {
			return Rendered{}, err
		}
	}
	return Rendered{Render: wanted, Known: -1}, nil
}

// answersStand says whether templates would be told the same again.
func (s *Sources) answersStand(ctx context.Context, req render.Request, answers []render.Answer) (bool, error) {
	for _, before := range answers {
		now, err := req.Ask(ctx, before.Question)
		if err != nil || now != before {
			return false, err
		}
	}
	return true, nil
}

// withKnown is fresh with the values of stored where a second render has others.
func (s *Sources) withKnown(ctx context.Context, r rendering, stored, fresh manifest.Set) (manifest.Set, error) {
	again, _, _, err := s.once(ctx, r)
	if err != nil {
		return manifest.Set{}, err
	}
	random, err := render.Random(fresh, again)
	if err != nil {
		return manifest.Set{}, err
	}
	return render.Keep(stored, fresh, random), nil
}

// once renders a chart to what is applied.
func (s *Sources) once(ctx context.Context, r rendering) (manifest.Set, []render.Answer, render.Digest, error) {
	set, answers, input, err := s.Renderer.Chart(ctx, r.archive, r.req)
	if err != nil {
		return manifest.Set{}, nil, render.Digest{}, err
	}
	set, err = s.finished(r.addon, set)
	return set, answers, input, err
}
