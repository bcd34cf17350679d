package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"example.com/fairlead/deploy/local/controlplane"
	"example.com/fairlead/deploy/local/ports"
	"example.com/fairlead/deploy/local/temporal"
)

// Flags that set Options, for error messages; Ports has its own.
const (
	FlagNodeSubnet  = "node-subnet"
	FlagHTTPAddress = "http-address"
)

// loopback is the only address that the stack listens on, except for a node's.
const loopback = "127.0.0.1"

// Options say what to start and where.
type Options struct {
	// StateDir has everything that outlives a run; see the package comment.
	StateDir string
	// BinDir has the programs, and container images below images.
	BinDir string
	// Ports to listen on.
	Ports Ports
	// HTTPAddress of Fairlead's own API: checked like Ports, and told to whoever
	// starts a second stack. It may be empty.
	HTTPAddress string
	// Node makes this machine a node of the cluster, so that pods run.
	Node bool
	// NodeSubnet chooses the node's addresses; see node.Options.
	NodeSubnet int
	// Kubeconfig names an existing cluster to use instead of a local one. Its
	// current context must be allowed to install Fairlead's kinds.
	Kubeconfig string
	// TemporalAddress names an existing Temporal to use instead of a local one.
	TemporalAddress string
	// Clean starts with an empty state directory.
	Clean bool
	// BeforeClean is called before the state is removed, to end what hangs on it.
	// Nothing is removed when it fails. It may be nil.
	BeforeClean func(context.Context) error
	// Progress is told what is being done. It may be nil. It may be called
	// from several goroutines at a time.
	Progress func(message string)
}

// Ports are those on which the stack listens, all on loopback.
type Ports struct {
	Kubernetes int
	Etcd       int
	Temporal   int
	TemporalUI int
	Echo       int
}

// DefaultPorts are the well-known ones.
func DefaultPorts() Ports {
	return Ports{Kubernetes: 6443, Etcd: 2379, Temporal: 7233, TemporalUI: 8233, Echo: 8085}
}

// PortFlag is a command line flag that sets a port.
type PortFlag struct {
	Name  string
	Usage string
	Value *int
}

// Flags are the flags that set the ports; errors about taken ports name them.
func (p *Ports) Flags() []PortFlag {
	return []PortFlag{
		{"kubernetes-port", "`port` of the Kubernetes API", &p.Kubernetes},
		{"etcd-port", "`port` of etcd", &p.Etcd},
		{"temporal-port", "`port` of the Temporal server", &p.Temporal},
		{"temporal-ui-port", "`port` of the Temporal Web UI", &p.TemporalUI},
		{"echo-port", "`port` of the echo target, which answers the caller's address", &p.Echo},
	}
}

func (o Options) validate() error {
	if o.Node && o.Kubeconfig != "" {
		return errors.New("a node joins the local cluster only: leave out either the node or the kubeconfig")
	}
	if o.StateDir == "" || o.BinDir == "" {
		return errors.New("the state directory and the directory of programs must be given")
	}
	return nil
}

// check tells what is missing or taken before anything is started.
func (o *Options) check() error {
	var needed []string
	if o.Kubeconfig == "" {
		needed = append(needed, controlplane.Programs()...)
		needed = append(needed, controlplane.ControllerPrograms()...)
	}
	if o.TemporalAddress == "" {
		needed = append(needed, temporal.Program)
	}
	errs := []error{controlplane.CheckPrograms(o.BinDir, needed...)}
	user := map[string]string{}
	for _, l := range o.listeners() {
		if other, used := user[l.address]; used {
			errs = append(errs, fmt.Errorf("address %s is given twice: choose another port with %s or %s", l.address, other, l.flag))
			continue
		}
		user[l.address] = l.flag
		errs = append(errs, ports.Check(l.address, l.flag))
	}
	return errors.Join(errs...)
}

// listener is an address to listen on, and the flag that sets it.
type listener struct{ address, flag string }

func (o *Options) listeners() []listener {
	var all []listener
	for _, f := range o.Ports.Flags() {
		if o.listensOn(f.Value) {
			all = append(all, listener{address(*f.Value), "--" + f.Name})
		}
	}
	if o.HTTPAddress != "" {
		all = append(all, listener{o.HTTPAddress, "--" + FlagHTTPAddress})
	}
	return all
}

// listensOn says whether the port at value, a field of o.Ports, is used at all.
func (o *Options) listensOn(value *int) bool {
	switch value {
	case &o.Ports.Kubernetes, &o.Ports.Etcd:
		return o.Kubeconfig == "" && !o.Node // a node has addresses of its own
	case &o.Ports.Temporal, &o.Ports.TemporalUI:
		return o.TemporalAddress == ""
	}
	return true
}

func address(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

// kubernetesAddress is what to tell people about the Kubernetes API.
func (o Options) kubernetesAddress() string {
	switch {
	case o.Kubeconfig != "":
		return "of " + o.Kubeconfig
	case o.Node:
		return fmt.Sprintf("https://10.200.%d.2:%d", o.NodeSubnet, o.Ports.Kubernetes)
	}
	return "https://" + address(o.Ports.Kubernetes)
}
