// Package process is the provider of local processes: each instance is a forward
// proxy on a loopback address of its own, which it also dials out from. It reaches
// targets on this machine only and is what development and fault tests run on.
package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/process/life"
)

// Type is the type of this provider in the providers file.
const Type = "process"

// defaultNetwork is far from what anybody else uses of the loopback network.
const defaultNetwork = "127.64.0.0/10"

// Settings are the block "process" of the providers file.
type Settings struct {
	// StateDir is the directory in which each instance has its own. Required.
	StateDir string `json:"stateDir"`
	// Network is where instances get their addresses; default 127.64.0.0/10.
	Network string `json:"network,omitempty"`
	// MaxInstances bounds how many instances there are; 0 is no bound.
	MaxInstances int `json:"maxInstances,omitempty"`
}

// Options are what the program gives to a provider.
type Options struct {
	Settings
	// ClusterID is the cluster whose instances these are.
	ClusterID string
	// Command runs a forward proxy when the flags of package forward follow;
	// default: this program, with the argument "proxy".
	Command []string
	// Now is the clock; default time.Now.
	Now func() time.Time
	// BootID names the time between two boots; default: the kernel's.
	BootID func() (string, error)
}

// Provider runs instances as local processes. Several programs may use the same
// state directory at a time.
type Provider struct {
	stateDir     string
	stateID      string // of the place that at was asked for
	network      netip.Prefix
	maxInstances int
	clusterID    string
	command      []string
	now          func() time.Time
	bootID       func() (string, error)
}

var _ provider.Provider = (*Provider)(nil)

// Builder makes providers of this type from their settings.
func Builder(o Options) provider.Builder {
	return func(_ string, settings json.RawMessage) (provider.Provider, error) {
		own := o
		if err := provider.DecodeSettings(settings, &own.Settings); err != nil {
			return nil, fmt.Errorf("settings %q: %w", Type, err)
		}
		return New(own)
	}
}

// New checks o and returns its provider. It touches no file.
func New(o Options) (*Provider, error) {
	p := &Provider{
		maxInstances: o.MaxInstances, clusterID: o.ClusterID,
		command: o.Command, now: o.Now, bootID: o.BootID,
	}
	if o.StateDir == "" {
		return nil, errors.New("process.stateDir is missing: name a directory that outlives a restart")
	}
	if o.ClusterID == "" {
		return nil, errors.New("the provider must know which cluster its instances belong to")
	}
	if !filepath.IsAbs(o.StateDir) {
		return nil, fmt.Errorf("process.stateDir %q is relative: proxies must be found from wherever Fairlead runs; write the whole path", o.StateDir)
	}
	p.stateDir = filepath.Clean(o.StateDir)
	var err error
	if p.network, err = parseNetwork(o.Network); err != nil {
		return nil, fmt.Errorf("process.network: %w", err)
	}
	if len(p.command) == 0 {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find the program that runs proxies: %w", err)
		}
		p.command = []string{self, "proxy"}
	}
	if p.now == nil {
		p.now = time.Now
	}
	if p.bootID == nil {
		p.bootID = life.BootID
	}
	return p, nil
}

// Prepare has nothing to do.
func (p *Provider) Prepare(context.Context, provider.Request) error { return nil }
