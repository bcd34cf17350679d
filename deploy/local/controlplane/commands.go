package controlplane

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"example.com/fairlead/deploy/local/child"
)

// Names of the children, and of their programs.
const (
	programEtcd              = "etcd"
	programAPIServer         = "kube-apiserver"
	programControllerManager = "kube-controller-manager"
	programScheduler         = "kube-scheduler"
)

// Programs are what Start needs; with a node, ControllerPrograms too.
func Programs() []string { return []string{programEtcd, programAPIServer} }

// ControllerPrograms are what StartControllers and StartScheduler need.
func ControllerPrograms() []string { return []string{programControllerManager, programScheduler} }

func (c *ControlPlane) etcd() child.Spec {
	client := "https://127.0.0.1:" + strconv.Itoa(c.options.EtcdPort)
	// A single member has no peer: any free port does.
	const peer = "https://127.0.0.1:0"
	args := []string{
		"--data-dir=" + filepath.Join(c.options.Dir, "etcd"),
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=default=" + peer,
		"--client-cert-auth",
		"--trusted-ca-file=" + certFile(c.pkiDir, authorityEtcd),
		"--cert-file=" + certFile(c.pkiDir, certEtcd),
		"--key-file=" + keyFile(c.pkiDir, certEtcd),
		"--peer-client-cert-auth",
		"--peer-trusted-ca-file=" + certFile(c.pkiDir, authorityEtcd),
		"--peer-cert-file=" + certFile(c.pkiDir, certEtcd),
		"--peer-key-file=" + keyFile(c.pkiDir, certEtcd),
	}
	if !c.options.Fsync {
		args = append(args, "--unsafe-no-fsync")
	}
	return child.Spec{Name: programEtcd, Command: c.command(programEtcd, args...)}
}

func (c *ControlPlane) apiServer() child.Spec {
	o := c.options
	args := []string{
		"--etcd-servers=https://127.0.0.1:" + strconv.Itoa(o.EtcdPort),
		"--etcd-cafile=" + certFile(c.pkiDir, authorityEtcd),
		"--etcd-certfile=" + certFile(c.pkiDir, certEtcdClient),
		"--etcd-keyfile=" + keyFile(c.pkiDir, certEtcdClient),
		"--bind-address=" + o.Address,
		"--advertise-address=" + o.Address,
		"--secure-port=" + strconv.Itoa(o.Port),
		"--tls-cert-file=" + certFile(c.pkiDir, certAPIServer),
		"--tls-private-key-file=" + keyFile(c.pkiDir, certAPIServer),
		"--client-ca-file=" + certFile(c.pkiDir, authorityCluster),
		"--kubelet-client-certificate=" + certFile(c.pkiDir, certKubeletClient),
		"--kubelet-client-key=" + keyFile(c.pkiDir, certKubeletClient),
		"--kubelet-preferred-address-types=InternalIP",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + keyFile(c.pkiDir, keyServiceAccount),
		"--service-account-signing-key-file=" + keyFile(c.pkiDir, keyServiceAccount),
		"--service-cluster-ip-range=" + o.ServiceCIDR,
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--allow-privileged=true",
		"--profiling=false",
	}
	if strings.HasPrefix(o.Address, "127.") {
		// Kubernetes refuses loopback endpoints for its own Service.
		args = append(args, "--endpoint-reconciler-type=none")
	}
	return child.Spec{
		Name:    programAPIServer,
		Command: c.command(programAPIServer, args...),
		// It waits a minute for whoever watches; all that it keeps is in etcd.
		Grace:        3 * time.Second,
		KeepsNothing: true,
	}
}

// StartControllers runs kube-controller-manager with the given controllers ("*"
// for all that are on by default). Without the namespace controller no namespace
// ever finishes its deletion.
func (c *ControlPlane) StartControllers(controllers ...string) error {
	config, err := c.IdentityFile(ControllerManager)
	if err != nil {
		return err
	}
	args := append(c.clientFlags(config),
		"--controllers="+strings.Join(controllers, ","),
		"--use-service-account-credentials",
		"--service-account-private-key-file="+keyFile(c.pkiDir, keyServiceAccount),
		"--root-ca-file="+certFile(c.pkiDir, authorityCluster),
	)
	_, err = c.group.Start(child.Spec{
		Name:    programControllerManager,
		Command: c.command(programControllerManager, args...),
	})
	return err
}

// StartScheduler runs kube-scheduler.
func (c *ControlPlane) StartScheduler() error {
	config, err := c.IdentityFile(Scheduler)
	if err != nil {
		return err
	}
	_, err = c.group.Start(child.Spec{
		Name:    programScheduler,
		Command: c.command(programScheduler, c.clientFlags(config)...),
	})
	return err
}

// clientFlags are those that the scheduler and the controllers have in common.
// They serve nothing, so that they need no port.
func (c *ControlPlane) clientFlags(kubeconfig string) []string {
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--leader-elect=false",
		"--secure-port=0",
		"--profiling=false",
	}
}

// IdentityFile writes the kubeconfig of an identity for a program that runs
// beside the control plane, and returns its path.
func (c *ControlPlane) IdentityFile(who Identity) (string, error) {
	path := filepath.Join(c.pkiDir, string(who)+".kubeconfig")
	return path, c.WriteKubeconfig(path, who)
}

// AuthorityFile is the certificate of the cluster's authority.
func (c *ControlPlane) AuthorityFile() string { return certFile(c.pkiDir, authorityCluster) }

// EssentialControllers are those that a cluster without nodes needs: they finish
// the deletion of namespaces and of owned objects.
func EssentialControllers() []string {
	return []string{"namespace-controller", "garbage-collector-controller"}
}
