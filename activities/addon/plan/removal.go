package plan

import (
	"context"

	"example.com/fairlead/activities/addon/manifest"
)

// Removal plans that the objects of r.Previous go, all of them: an uninstall, which is no
// render without objects. It does not look at r.Set.
func (p Planner) Removal(ctx context.Context, r Request) (*Plan, error) {
	r.Set, r.Prune = manifest.Set{}, true
	s := p.newSession(r)
	if err := s.findLeftovers(ctx); err != nil {
		return nil, err
	}
	s.learnSecrets()
	return s.planOf(s.prune()), nil
}
