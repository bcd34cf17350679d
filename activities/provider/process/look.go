package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/process/life"
)

// vitality is how a process is.
type vitality int

const (
	unborn    vitality = iota // it was never started, or died before its first act
	alive                     // it does not listen yet
	listening                 // it serves
	dead                      // it ended since the machine booted
	halted                    // it ended with the machine
)

// Get looks at one instance.
func (p *Provider) Get(_ context.Context, id provider.ID) (provider.Instance, error) {
	p, err := p.at(id.Place)
	if err != nil {
		return provider.Instance{}, err
	}
	dir, err := p.dir(id)
	if err != nil {
		return provider.Instance{}, err
	}
	inst, err := p.see(id, dir)
	if errors.Is(err, provider.ErrNotFound) {
		return inst, p.gone(err)
	}
	if err == nil && inst.Owner.ClusterID != "" && inst.Owner.ClusterID != p.clusterID {
		return provider.Instance{}, fmt.Errorf("instance %s of cluster %s: %w", id.Name, p.clusterID, provider.ErrNotFound)
	}
	return inst, err
}

// List looks at all instances of this cluster.
func (p *Provider) List(context.Context) (provider.Listing, error) {
	stateID, err := readMarker(p.stateDir)
	if errors.Is(err, os.ErrNotExist) { // nobody made an instance here: what a former one holds is at another place
		return provider.Listing{}, nil
	}
	if err != nil {
		return provider.Listing{}, err
	}
	names, err := p.names()
	if err != nil {
		return provider.Listing{}, err
	}
	var l provider.Listing
	for _, name := range names {
		id := provider.ID{Place: p.stateDir + idMark + stateID, Name: name}
		inst, err := p.see(id, filepath.Join(p.stateDir, name))
		switch {
		case errors.Is(err, provider.ErrNotFound): // it went meanwhile
		case err != nil:
			return provider.Listing{}, err
		case inst.Owner.UID == "": // nobody can say whose it is
			l.Incomplete = map[string]string{targetName: inst.Message}
		case inst.Owner.ClusterID == p.clusterID:
			l.Instances = append(l.Instances, inst)
		}
	}
	return l, nil
}

// see looks at the instance in dir, whatever its cluster.
func (p *Provider) see(id provider.ID, dir string) (provider.Instance, error) {
	r, err := readRecord(dir)
	if errors.Is(err, errDamaged) {
		return damaged(id, err), nil
	}
	if err != nil {
		return provider.Instance{}, err
	}
	v, err := p.look(dir, r)
	switch {
	case err == nil:
		return p.instance(id, dir, r, v), nil
	case !errors.Is(err, os.ErrNotExist):
		return provider.Instance{}, err
	}
	// The lock file is missing: the instance went meanwhile, or was tampered with.
	if _, statErr := os.Stat(dir); errors.Is(statErr, os.ErrNotExist) {
		return provider.Instance{}, fmt.Errorf("instance %s: %w", id.Name, provider.ErrNotFound)
	}
	inst := p.instance(id, dir, r, dead)
	inst.Message = err.Error()
	return inst, nil
}

func (p *Provider) look(dir string, r *record) (vitality, error) {
	s, err := life.Look(filepath.Join(dir, r.LifeFile))
	if err != nil {
		return 0, err
	}
	switch {
	case s.Listening:
		return listening, nil
	case s.PID != 0:
		return alive, nil
	case s.BootID == "":
		return unborn, nil
	}
	boot, err := p.bootID()
	if err != nil {
		return 0, err
	}
	if s.BootID != boot {
		return halted, nil
	}
	return dead, nil
}

func (p *Provider) instance(id provider.ID, dir string, r *record, v vitality) provider.Instance {
	inst := provider.Instance{
		ID: id, ProviderID: "processes/" + id.Name,
		Owner: r.Owner, Incarnation: r.Incarnation, Hash: r.Hash, CreatedAt: r.CreatedAt,
	}
	switch v {
	case listening:
		inst.State, inst.Host, inst.Port = provider.Running, r.Address.String(), r.Port
	case alive:
		inst.State, inst.Message = provider.Provisioning, "the process does not listen yet"
	case halted:
		inst.State, inst.Message = provider.Halted, "the machine was rebooted"
	case dead:
		inst.State, inst.Message = provider.Stopped, "the process died; its log says: "+lastLine(filepath.Join(dir, logFile))
	case unborn:
		// Provisioning would be a promise that nobody may be keeping.
		inst.State, inst.Message = provider.Stopped, "the process was not started"
	}
	return inst
}

// damaged is an instance of which only the directory is known.
func damaged(id provider.ID, err error) provider.Instance {
	return provider.Instance{ID: id, ProviderID: "processes/" + id.Name, State: provider.Stopped, Message: err.Error()}
}
