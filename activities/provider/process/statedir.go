package process

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

// markerFile holds the identity of a state directory. Another directory at the same
// path, such as the mount point of a disk that is not mounted, is another place.
const markerFile = ".identity"

// memorySuffix ends the name of a file beside the state directory that has its identity
// too, so that a directory that is away, such as a disk that is not mounted, is not
// taken for a new one.
const memorySuffix = ".identity"

// idMark is between the path and the identity of a place.
const idMark = "#"

// Places has one place: the state directory, which is made if it is not there.
func (p *Provider) Places(context.Context, string, *crawl.ProxySpec) ([]string, error) {
	id, err := p.ensure()
	if err != nil {
		return nil, err
	}
	return []string{p.stateDir + idMark + id}, nil
}

// at is the provider with place as its state directory: instances stay where they
// were made. A place that is not there any more is an error, never an empty one.
func (p *Provider) at(place string) (*Provider, error) {
	i := strings.LastIndex(place, idMark)
	if i < 0 || !filepath.IsAbs(place) || place[:i] != filepath.Clean(place[:i]) {
		return nil, fmt.Errorf("place %q is not a state directory: %w", place, provider.ErrPermanent)
	}
	there := *p
	there.stateDir, there.stateID = place[:i], place[i+len(idMark):]
	return &there, there.present()
}

// present says whether the state directory is the one that it was.
func (p *Provider) present() error {
	id, err := readMarker(p.stateDir)
	if err == nil && id == p.stateID {
		return nil
	}
	what := "is another one now"
	if err != nil {
		what = "cannot be looked at: " + err.Error()
	}
	return fmt.Errorf("the state directory %s with identity %s %s; proxies may run from it: bring it back, or, if they are gone for good, write that identity into %s: %w",
		p.stateDir, p.stateID, what, filepath.Join(p.stateDir, markerFile), provider.ErrTransient)
}

// gone makes sure that what was not found was looked for at the right place.
func (p *Provider) gone(notFound error) error {
	if err := p.present(); err != nil {
		return err
	}
	return notFound
}

// ensure makes the state directory with an identity, or returns that of the one
// that is there.
func (p *Provider) ensure() (id string, err error) {
	known, memoryErr := readIdentity(p.memory())
	switch id, err = readMarker(p.stateDir); {
	case err == nil:
		if memoryErr != nil || known != id { // somebody brought another one, with all that is in it
			p.remember(id)
		}
		return id, nil
	case !errors.Is(err, os.ErrNotExist):
		return "", err
	case memoryErr == nil:
		return "", fmt.Errorf("the state directory %s with identity %s is away: bring it back, or, if its proxies are gone for good, remove %s: %w",
			p.stateDir, known, p.memory(), provider.ErrTransient)
	}
	if err := p.create(); err != nil {
		return "", err
	}
	if id, err = readMarker(p.stateDir); err == nil {
		p.remember(id)
	}
	return id, err
}

func (p *Provider) memory() string { return p.stateDir + memorySuffix }

// remember keeps the identity where it can: whoever may write to the state directory
// only goes without.
func (p *Provider) remember(id string) {
	tmp := p.memory() + "-" + rand.Text()
	if err := writeSynced(tmp, id+"\n"); err != nil {
		return
	}
	if err := os.Rename(tmp, p.memory()); err != nil {
		_ = os.Remove(tmp) // it is not read by anybody
	}
}

// create makes the state directory with an identity.
func (p *Provider) create() error {
	if err := os.MkdirAll(p.stateDir, 0o700); err != nil {
		return diskError("make the state directory", err)
	}
	// Of several programs the first to link its file wins.
	tmp := filepath.Join(p.stateDir, newPrefix+"identity-"+rand.Text())
	if err := writeSynced(tmp, strings.ToLower(rand.Text()[:12])+"\n"); err != nil {
		return diskError("give the state directory an identity", err)
	}
	err := os.Link(tmp, filepath.Join(p.stateDir, markerFile))
	if err != nil && !errors.Is(err, os.ErrExist) {
		return errors.Join(diskError("give the state directory an identity", err), os.Remove(tmp))
	}
	if err := os.Remove(tmp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return diskError("give the state directory an identity", err)
	}
	return nil
}

// readMarker wraps os.ErrNotExist when there is no directory or no identity.
func readMarker(dir string) (string, error) { return readIdentity(filepath.Join(dir, markerFile)) }

func readIdentity(path string) (string, error) {
	data, err := os.ReadFile(path) // #nosec G304 -- in the state directory, or beside it
	if err != nil {
		return "", diskError("read the identity of the state directory", err)
	}
	id := strings.TrimSpace(string(data))
	if id == "" {
		return "", fmt.Errorf("%s is empty: %w", path, provider.ErrTransient)
	}
	return id, nil
}
