package process

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"example.com/fairlead/activities/provider"
)

// Create starts the process of req and returns once it listens, or returns the
// instance that is there already; one that died is returned as Stopped, one from
// before a reboot is started again at the same address. What it cannot start it
// does not leave behind.
func (p *Provider) Create(ctx context.Context, req provider.Request) (provider.Instance, error) {
	p, err := p.at(req.Place)
	if err != nil {
		return provider.Instance{}, err
	}
	dir, err := p.dir(req.ID)
	if err != nil {
		return provider.Instance{}, err
	}
	if err := p.checkRequest(req); err != nil {
		return provider.Instance{}, err
	}
	unlock, err := p.lockName(ctx, req.Name)
	if err != nil {
		return provider.Instance{}, err
	}
	defer unlock()
	r, err := readRecord(dir)
	switch {
	case errors.Is(err, provider.ErrNotFound):
		if r, err = p.prepareDir(ctx, dir, req); err != nil {
			return provider.Instance{}, err
		}
	case errors.Is(err, errDamaged):
		return damaged(req.ID, err), nil
	case err != nil:
		return provider.Instance{}, err
	case r.Owner.UID != req.Owner.UID || r.Owner.ClusterID != p.clusterID:
		return provider.Instance{}, fmt.Errorf("the name is taken by the instance of Proxy %s/%s with UID %s of cluster %s (%s): %w",
			r.Owner.Namespace, r.Owner.Name, r.Owner.UID, r.Owner.ClusterID, dir, provider.ErrPermanent)
	}
	return p.bringUp(ctx, req.ID, dir, r)
}

func (p *Provider) checkRequest(req provider.Request) error {
	if req.Owner.ClusterID != p.clusterID {
		return fmt.Errorf("instance %s is for cluster %q, but this provider serves cluster %q: %w",
			req.Name, req.Owner.ClusterID, p.clusterID, provider.ErrPermanent)
	}
	return nil
}

// prepareDir gives a new instance its directory and its address.
func (p *Provider) prepareDir(ctx context.Context, dir string, req provider.Request) (*record, error) {
	unlock, err := p.lockAddresses(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := p.sweep(); err != nil {
		return nil, err
	}
	if err := p.checkRoom(); err != nil {
		return nil, err
	}
	r := &record{
		Owner: req.Owner, Incarnation: req.Incarnation, Hash: req.Hash,
		Port: req.Spec.ListenPort(), LifeFile: lifePrefix + rand.Text(), CreatedAt: p.now(),
	}
	if r.Address, err = p.chooseAddress(ctx, req, r.Port); err != nil {
		return nil, err
	}
	if err := provider.Overdue(ctx); err != nil {
		return nil, fmt.Errorf("make instance %s: %w: %w", req.Name, err, provider.ErrTransient)
	}
	auth := ""
	if req.Credentials != nil {
		r.Auth, auth = true, req.Credentials.Username+":"+req.Credentials.Password
	}
	return r, p.place(dir, r, auth)
}

func (p *Provider) checkRoom() error {
	if p.maxInstances == 0 {
		return nil
	}
	names, err := p.names()
	if err != nil {
		return err
	}
	if len(names) >= p.maxInstances {
		return fmt.Errorf("%d of %d instances exist: delete some or raise process.maxInstances: %w",
			len(names), p.maxInstances, provider.ErrQuotaExceeded)
	}
	return nil
}

// bringUp starts the process where that is what is missing.
func (p *Provider) bringUp(ctx context.Context, id provider.ID, dir string, r *record) (provider.Instance, error) {
	v, err := p.look(dir, r)
	if errors.Is(err, os.ErrNotExist) { // somebody removed the lock file
		return p.instance(id, dir, r, dead), nil
	}
	if err != nil {
		return provider.Instance{}, err
	}
	lifePath := filepath.Join(dir, r.LifeFile)
	switch v {
	case listening, dead:
		return p.instance(id, dir, r, v), nil
	case alive: // a former call was killed while it waited for the process
		err = (&child{dir: dir, life: lifePath}).waitListening(ctx)
	case halted:
		err = p.start(ctx, dir, r)
	case unborn:
		if err = p.start(ctx, dir, r); err != nil {
			err = errors.Join(err, p.eraseDead(dir, lifePath))
		}
	}
	if err != nil {
		return provider.Instance{}, fmt.Errorf("instance %s at %s: %w", id.Name, r.addrPort(), err)
	}
	return p.instance(id, dir, r, listening), nil
}
