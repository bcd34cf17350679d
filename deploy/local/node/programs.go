package node

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"
	"time"

	"example.com/fairlead/deploy/local/child"
	"example.com/fairlead/deploy/local/controlplane"
)

//go:embed files/*.tmpl
var files embed.FS

var templates = template.Must(template.ParseFS(files, "files/*.tmpl"))

// images that pods use; there is no registry.
var images = []string{"pause", "squid"}

const (
	runtimeTimeout = 30 * time.Second
	pollEvery      = 50 * time.Millisecond
)

// settings fill the templates.
type settings struct {
	Dir             string
	Name            string
	NodeName        string
	Address         string
	PodCIDR         string
	CNIPrograms     string
	AuthorityFile   string
	ProxyKubeconfig string
}

// writeFiles fills the templates of the given paths below the node's directory.
func (n *Node) writeFiles(s settings, paths ...string) error {
	for _, path := range paths {
		var text bytes.Buffer
		if err := templates.ExecuteTemplate(&text, filepath.Base(path)+".tmpl", s); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
		target := filepath.Join(n.dir, path)
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
		if err := os.WriteFile(target, text.Bytes(), 0o600); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
	}
	return nil
}

// privateDirs are directories whose place in the file system is fixed in the
// programs. In the node's mount namespace they are directories of the node, so
// that it cannot meet, or leave anything to, another user of the machine's own.
var privateDirs = []string{"/run/containerd", "/var/lib/kubelet", "/var/lib/cni", "/var/log/containers"}

// privately runs a command (after the name and the node's directory) where
// privateDirs are the node's own.
const privately = `
set -e
private=$1
shift
while [ "$1" != -- ]; do
  mount --bind "$private$1" "$1"
  shift
done
shift
exec "$@"
`

// startContainerd runs containerd in a new mount namespace, which lives as long
// as containerd or a container does: no mount can be left behind.
func (n *Node) startContainerd(group *child.Group) error {
	private := filepath.Join(n.dir, "private")
	command := append(n.Prefix(), "unshare", "--mount", "--propagation=private", "sh", "-c", privately, "privately", private)
	for _, dir := range privateDirs {
		if err := os.MkdirAll(filepath.Join(private, dir), 0o700); err != nil {
			return fmt.Errorf("make private directory: %w", err)
		}
		command = append(command, dir)
	}
	command = append(command, "--", "containerd", "--config", filepath.Join(n.dir, "containerd.toml"))
	p, err := group.Start(child.Spec{Name: "containerd", Command: command})
	n.runtime = p
	return err
}

// beside makes a command run in the namespaces of containerd.
func (n *Node) beside(command ...string) []string {
	mounts := "--mount=/proc/" + strconv.Itoa(n.runtime.PID()) + "/ns/mnt"
	return append(append(n.Prefix(), mounts), command...)
}

// importImages loads the images once containerd answers.
func (n *Node) importImages(ctx context.Context, group *child.Group) error {
	ready, cancel := context.WithTimeout(ctx, runtimeTimeout)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	socket := filepath.Join(n.dir, "private/run/containerd/containerd.sock")
	for {
		if _, err := os.Stat(socket); err == nil {
			break
		}
		select {
		case <-group.Done():
			return group.Err()
		case <-ready.Done():
			return fmt.Errorf("wait for containerd: %w", ready.Err())
		case <-tick.C:
		}
	}
	for _, image := range images {
		n.options.Progress("loading image " + image)
		command := n.beside("ctr", "--namespace=k8s.io", "images", "import", imageFile(n.options.BinDir, image))
		cmd := exec.CommandContext(ctx, command[0], command[1:]...) // #nosec G204 -- arguments are this package's own
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("load image %s: %w: %s", image, err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}

func imageFile(binDir, image string) string { return filepath.Join(binDir, "images", image+".tar") }

func (n *Node) startKubelet(group *child.Group, c *controlplane.ControlPlane) error {
	kubeconfig, err := c.IdentityFile(controlplane.Kubelet)
	if err != nil {
		return err
	}
	// Pods get this file: there is no name service in the cluster.
	if err := os.WriteFile(filepath.Join(n.dir, "resolv.conf"), []byte("nameserver 127.0.0.1\n"), 0o600); err != nil {
		return fmt.Errorf("write resolv.conf of pods: %w", err)
	}
	s := settings{Dir: n.dir, Name: n.name, Address: n.Address(), AuthorityFile: c.AuthorityFile()}
	if err := n.writeFiles(s, "kubelet.yaml"); err != nil {
		return err
	}
	_, err = group.Start(child.Spec{Name: "kubelet", Command: n.beside(
		filepath.Join(n.options.BinDir, "kubelet"),
		"--config="+filepath.Join(n.dir, "kubelet.yaml"),
		"--kubeconfig="+kubeconfig,
		"--hostname-override="+controlplane.NodeName,
		"--node-ip="+n.Address(),
		"--root-dir="+filepath.Join(n.dir, "kubelet"),
		"--cert-dir="+filepath.Join(n.dir, "kubelet/pki"),
	)})
	return err
}

func (n *Node) startKubeProxy(group *child.Group, c *controlplane.ControlPlane) error {
	kubeconfig, err := c.IdentityFile(controlplane.KubeProxy)
	if err != nil {
		return err
	}
	s := settings{PodCIDR: n.podCIDR(), NodeName: controlplane.NodeName, ProxyKubeconfig: kubeconfig}
	if err := n.writeFiles(s, "kube-proxy.yaml"); err != nil {
		return err
	}
	_, err = group.Start(child.Spec{Name: "kube-proxy", Command: append(n.Prefix(),
		filepath.Join(n.options.BinDir, "kube-proxy"), "--config="+filepath.Join(n.dir, "kube-proxy.yaml"))})
	return err
}
