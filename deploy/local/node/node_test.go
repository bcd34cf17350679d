//go:build node

package node_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/deploy/local/node"
)

func TestNodeRefusesAddressesInUseAndNamesTheirUser(t *testing.T) {
	running := localtest.Node(t)
	var subnet int
	if _, err := fmt.Sscanf(running.Node.Address(), "10.200.%d.2", &subnet); err != nil {
		t.Fatal(err)
	}
	_, err := node.Open(t.Context(), node.Options{
		Dir: t.TempDir(), BinDir: localtest.Dir(t), Subnet: subnet, SubnetFlag: "--node-subnet",
	})
	if err == nil || !strings.Contains(err.Error(), "dev fairlead") || !strings.Contains(err.Error(), "--node-subnet") {
		t.Errorf("a second node with the same addresses gave %v", err)
	}
}

func TestNodeNamesAllMissingParts(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := node.Open(t.Context(), node.Options{Dir: t.TempDir(), BinDir: t.TempDir(), Subnet: 3})
	if err == nil {
		t.Fatal("a node was opened without its programs")
	}
	for _, want := range []string{
		"apt-get install --no-install-recommends containerd runc iptables iproute2 util-linux mount",
		"kubelet kube-proxy etcd kube-apiserver kube-controller-manager kube-scheduler",
		filepath.Join("images", "squid.tar"),
		"make tools",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
}

func TestNodeThatNeverWasIsCleanedUp(t *testing.T) {
	dir := t.TempDir()
	if err := node.Clean(t.Context(), node.Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("the directory holds %v (%v)", entries, err)
	}
}
