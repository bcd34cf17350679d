// Package controlplane runs etcd, kube-apiserver and, where asked for, the
// Kubernetes controllers as children; it knows nothing of Fairlead's own parts.
package controlplane

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"k8s.io/client-go/rest"

	"example.com/fairlead/api/kube"
	"example.com/fairlead/deploy/local/child"
)

// NodeName is the name of the only node that the cluster may have.
const NodeName = "fairlead"

// defaultServiceCIDR is where Services have their addresses.
const defaultServiceCIDR = "10.96.0.0/24"

// Options say where the control plane keeps its state and where it listens.
type Options struct {
	// Dir is the state directory: certificates in pki, data in etcd.
	Dir string
	// BinDir has the programs.
	BinDir string
	// Address that kube-apiserver listens on; default 127.0.0.1. etcd always
	// listens on 127.0.0.1.
	Address string
	// Port of kube-apiserver.
	Port int
	// EtcdPort is the port of etcd.
	EtcdPort int
	// Prefix is put before each command, such as nsenter and its arguments.
	Prefix []string
	// ServiceCIDR is where Services have their addresses; default 10.96.0.0/24.
	ServiceCIDR string
	// Fsync makes etcd's writes survive a power cut; tests do without.
	Fsync bool
	// Progress is told what is waited for. It may be nil.
	Progress func(message string)
}

// ControlPlane is a running API server with its etcd.
type ControlPlane struct {
	// URL of the API server.
	URL string
	// Config is an administrator's way in.
	Config *rest.Config

	options Options
	group   *child.Group
	pkiDir  string
}

// Start runs etcd and kube-apiserver as children of group and waits until the
// API server is ready. The same directory may be used again after any end.
func Start(ctx context.Context, group *child.Group, o Options) (*ControlPlane, error) {
	o = o.withDefaults()
	c := &ControlPlane{
		URL:     "https://" + net.JoinHostPort(o.Address, strconv.Itoa(o.Port)),
		options: o,
		group:   group,
		pkiDir:  filepath.Join(o.Dir, "pki"),
	}
	if err := ensurePKI(c.pkiDir, o, time.Now()); err != nil {
		return nil, err
	}
	data, err := c.kubeconfig(Admin)
	if err != nil {
		return nil, err
	}
	if c.Config, err = kube.Decode(data); err != nil {
		return nil, fmt.Errorf("connect to the local API server: %w", err)
	}

	o.Progress("starting etcd and the Kubernetes API server")
	for _, spec := range []child.Spec{c.etcd(), c.apiServer()} {
		if _, err := group.Start(spec); err != nil {
			return nil, err
		}
	}
	return c, c.waitReady(ctx)
}

func (o Options) withDefaults() Options {
	if o.Address == "" {
		o.Address = "127.0.0.1"
	}
	if o.ServiceCIDR == "" {
		o.ServiceCIDR = defaultServiceCIDR
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	return o
}

// firstServiceIP is the address that Kubernetes gives to its own Service.
func (o Options) firstServiceIP() net.IP {
	ip, _, err := net.ParseCIDR(o.ServiceCIDR)
	if err != nil {
		return nil // kube-apiserver refuses it with a better message
	}
	ip = ip.To4()
	ip[3]++
	return ip
}

// command is the line that runs a program with the prefix.
func (c *ControlPlane) command(name string, args ...string) []string {
	line := append([]string{}, c.options.Prefix...)
	line = append(line, filepath.Join(c.options.BinDir, name))
	return append(line, args...)
}

// CheckPrograms returns an error that names the programs that are not in dir.
func CheckPrograms(dir string, names ...string) error {
	var missing []string
	for _, name := range names {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%v not found in %s: build with `make tools`", missing, dir)
	}
	return nil
}
