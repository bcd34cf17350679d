// Package controlplane runs etcd, kube-apiserver and, where asked for, the
// Kubernetes controllers as children; it knows nothing of Fairlead's own parts.
package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fairlead/deploy/local/child"
)

// NodeName is the name of the only node that the cluster may have.
const NodeName = "fairlead"

// DefaultServiceCIDR is where Services have their addresses.
const DefaultServiceCIDR = "10.96.0.0/24"

const (
	// startTimeout is generous: a loaded machine with two cores needs half a minute.
	startTimeout = 3 * time.Minute
	pollEvery    = 100 * time.Millisecond
	callTimeout  = 5 * time.Second
)

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
	if c.Config, err = clientcmd.RESTConfigFromKubeConfig(data); err != nil {
		return nil, fmt.Errorf("connect to the local API server: %w", err)
	}
	c.Config.QPS = -1 // the API server's own fairness limits, not the client's guess

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
		o.ServiceCIDR = DefaultServiceCIDR
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

// waitReady waits until the API server says so and the namespaces that everyone
// counts on are there.
func (c *ControlPlane) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	clients, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return fmt.Errorf("connect to the local API server: %w", err)
	}
	ready := func() error {
		call, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		if _, err := clients.RESTClient().Get().AbsPath("/readyz").DoRaw(call); err != nil {
			return err //nolint:wrapcheck // wrapped below, once
		}
		for _, ns := range []string{metav1.NamespaceDefault, metav1.NamespaceSystem} {
			if _, err := clients.CoreV1().Namespaces().Get(call, ns, metav1.GetOptions{}); err != nil {
				return err //nolint:wrapcheck // wrapped below, once
			}
		}
		return nil
	}
	return c.await(ctx, "the Kubernetes API server to be ready", ready)
}

// WaitNode waits until the node is ready and pods may be created.
func (c *ControlPlane) WaitNode(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	clients, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return fmt.Errorf("connect to the local API server: %w", err)
	}
	return c.await(ctx, "the node to be ready", func() error {
		call, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		node, err := clients.CoreV1().Nodes().Get(call, NodeName, metav1.GetOptions{})
		if err != nil {
			return err //nolint:wrapcheck // wrapped by await, once
		}
		if !nodeReady(node) {
			return errors.New("node " + NodeName + " is not ready yet")
		}
		_, err = clients.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(call, "default", metav1.GetOptions{})
		return err //nolint:wrapcheck // wrapped by await, once
	})
}

func nodeReady(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// await repeats check until it succeeds, a child dies or ctx ends.
func (c *ControlPlane) await(ctx context.Context, what string, check func() error) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-c.group.Done():
			return c.group.Err()
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w (last answer: %w; logs: %s)", what, ctx.Err(), err, filepath.Join(c.options.Dir, "log"))
		case <-tick.C:
		}
	}
}

// program finds one of the programs.
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
