package process

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"example.com/fairlead/activities/provider"
)

// disownedPrefix begins the directory of an instance that was abandoned. Its process
// goes on; whoever ends it removes the directory.
const disownedPrefix = ".disowned-"

// Disown puts the instance out of our sight.
func (p *Provider) Disown(ctx context.Context, id provider.ID) error {
	p, dir, unlock, err := p.seize(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	r, err := readRecord(dir)
	switch {
	case errors.Is(err, provider.ErrNotFound):
		return p.gone(nil)
	case errors.Is(err, errDamaged): // nobody can say whose it is: it stays
		return nil
	case err != nil:
		return err
	case r.Owner.ClusterID != p.clusterID:
		return nil
	}
	err = os.Rename(dir, filepath.Join(p.stateDir, disownedPrefix+id.Name))
	if err != nil {
		return diskError("put an instance out of sight", err)
	}
	return nil
}
