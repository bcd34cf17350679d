// Package node makes this machine the one node of the local cluster: containerd,
// kubelet and kube-proxy in network and mount namespaces of their own, so that
// the machine's network, mounts and directories stay as they are.
package node

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"example.com/fairlead/deploy/local/child"
	"example.com/fairlead/deploy/local/controlplane"
)

// MaxSubnet is the largest Options.Subnet.
const MaxSubnet = 255

// Options say where the node keeps its state and which addresses it has.
type Options struct {
	// Dir is the state directory; all of the node is below node.
	Dir string
	// BinDir has the programs, and the images below images.
	BinDir string
	// Subnet N gives the node 10.200.N.0/30, its pods 10.244.N.0/24 and its
	// Services 10.96.N.0/24, so that several nodes fit on a machine.
	Subnet int
	// SubnetFlag is the flag that sets Subnet, for error messages.
	SubnetFlag string
	// Progress is told what is waited for. It may be nil.
	Progress func(message string)
}

// Node is this machine's place in the cluster.
type Node struct {
	options Options
	dir     string
	name    string // of the network namespace, its link and its control group
	runtime *child.Process
}

// Open removes what a former node of the same directory left behind and makes
// the network namespace. The control plane of a cluster with a node runs in it.
func Open(ctx context.Context, o Options) (*Node, error) {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	if o.Subnet < 0 || o.Subnet > MaxSubnet {
		return nil, fmt.Errorf("%s %d is not between 0 and %d", o.SubnetFlag, o.Subnet, MaxSubnet)
	}
	if err := checkRequirements(o.BinDir); err != nil {
		return nil, err
	}
	n, err := find(o)
	if err != nil {
		return nil, err
	}
	if err := n.clean(ctx); err != nil {
		return nil, fmt.Errorf("clean up after a former node: %w", err)
	}
	if err := n.checkSubnet(ctx); err != nil {
		return nil, err
	}
	if err := n.prepare(ctx); err != nil {
		return nil, errors.Join(err, n.clean(context.WithoutCancel(ctx)))
	}
	return n, nil
}

// Clean removes what a node of the directory left behind, if there was one. Its
// children must have ended.
func Clean(ctx context.Context, o Options) error {
	if _, err := os.Stat(filepath.Join(o.Dir, "node")); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	n, err := find(o)
	if err != nil {
		return err
	}
	return n.clean(ctx)
}

func find(o Options) (*Node, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("find the state directory: %w", err)
	}
	// Names of links have at most 15 characters.
	sum := sha256.Sum256([]byte(dir))
	return &Node{options: o, dir: filepath.Join(dir, "node"), name: "fairlead" + hex.EncodeToString(sum[:3])}, nil
}

// prepare makes what the machine must have before anything runs.
func (n *Node) prepare(ctx context.Context) error {
	if err := os.MkdirAll(n.dir, 0o700); err != nil {
		return fmt.Errorf("make the node's directory: %w", err)
	}
	if err := n.makeCgroups(); err != nil {
		return err
	}
	return n.join(func() error { return n.makeNetwork(ctx) })
}

// StartRuntime runs containerd and loads the images.
func (n *Node) StartRuntime(ctx context.Context, group *child.Group) error {
	n.options.Progress("starting containerd")
	if err := n.writeFiles(settings{Dir: n.dir, CNIPrograms: cniPrograms, PodCIDR: n.podCIDR()}, "containerd.toml", "cni/pods.conflist"); err != nil {
		return err
	}
	if err := n.startContainerd(group); err != nil {
		return err
	}
	return n.importImages(ctx, group)
}

// Join makes the machine a node of the cluster and waits until it is ready. The
// runtime must have been started.
func (n *Node) Join(ctx context.Context, group *child.Group, c *controlplane.ControlPlane) error {
	n.options.Progress("starting the node")
	if err := c.StartControllers("*"); err != nil {
		return err
	}
	if err := c.StartScheduler(); err != nil {
		return err
	}
	since := time.Now()
	if err := n.startKubelet(group, c); err != nil {
		return err
	}
	if err := n.startKubeProxy(group, c); err != nil {
		return err
	}
	return c.WaitNode(ctx, since)
}

// Close puts the machine back to what it was: no process, mount, control group,
// link, route or setting of the node is left. The children must have ended.
func (n *Node) Close(ctx context.Context) error {
	if err := n.clean(ctx); err != nil {
		return fmt.Errorf("take the node down: %w", err)
	}
	return nil
}
