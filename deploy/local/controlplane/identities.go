package controlplane

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// Names of certificates, and of the files that hold them.
const (
	authorityCluster = "ca"
	authorityEtcd    = "etcd-ca"

	certAPIServer     = "apiserver"
	certEtcd          = "etcd"
	certEtcdClient    = "apiserver-etcd-client"
	certKubeletClient = "apiserver-kubelet-client"

	keyServiceAccount = "sa"
)

// Identity is a client of the API server that has a certificate of its own.
type Identity string

// The identities of the local cluster.
const (
	Admin             Identity = "admin"
	ControllerManager Identity = "controller-manager"
	Scheduler         Identity = "scheduler"
	Kubelet           Identity = "kubelet"
	KubeProxy         Identity = "kube-proxy"
)

// ensurePKI makes whatever certificate is missing or no longer good.
func ensurePKI(dir string, o Options, now time.Time) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make certificate directory: %w", err)
	}
	cluster, err := openAuthority(dir, authorityCluster, now)
	if err != nil {
		return err
	}
	// etcd trusts an authority of its own: whoever reaches it is above RBAC.
	etcd, err := openAuthority(dir, authorityEtcd, now)
	if err != nil {
		return err
	}
	for _, l := range clusterLeaves(o) {
		if err := cluster.ensure(l); err != nil {
			return err
		}
	}
	for _, l := range etcdLeaves() {
		if err := etcd.ensure(l); err != nil {
			return err
		}
	}
	// The service account key never changes: every token in the cluster hangs on it.
	if _, err := readPEM(keyFile(dir, keyServiceAccount)); errors.Is(err, os.ErrNotExist) {
		_, err = writeKey(keyFile(dir, keyServiceAccount))
		return err
	} else if err != nil {
		return err
	}
	return nil
}

func clusterLeaves(o Options) []leaf {
	server := []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	client := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	const masters = "system:masters"
	return []leaf{
		{
			name: certAPIServer, commonName: "kube-apiserver", usage: server,
			dnsNames:  []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
			addresses: []net.IP{net.IPv4(127, 0, 0, 1), net.ParseIP(o.Address), o.firstServiceIP()},
		},
		{name: certKubeletClient, commonName: "kube-apiserver-kubelet-client", organization: []string{masters}, usage: client},
		{name: string(Admin), commonName: "fairlead-admin", organization: []string{masters}, usage: client},
		{name: string(ControllerManager), commonName: "system:kube-controller-manager", usage: client},
		{name: string(Scheduler), commonName: "system:kube-scheduler", usage: client},
		{name: string(Kubelet), commonName: "system:node:" + NodeName, organization: []string{"system:nodes"}, usage: client},
		{name: string(KubeProxy), commonName: "system:kube-proxy", usage: client},
	}
}

func etcdLeaves() []leaf {
	loopback := []net.IP{net.IPv4(127, 0, 0, 1)}
	return []leaf{
		// A member of etcd is a client of itself and of its peers.
		{
			name: certEtcd, commonName: "etcd", addresses: loopback,
			usage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		},
		{name: certEtcdClient, commonName: "kube-apiserver", usage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}},
	}
}
