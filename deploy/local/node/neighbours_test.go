//go:build node

package node_test

import (
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/deploy/local/node"
)

func TestNodeThatLeavesTakesNothingFromItsNeighbour(t *testing.T) {
	running := localtest.Node(t)
	neighbour, err := node.Open(t.Context(), node.Options{Dir: t.TempDir(), BinDir: localtest.Dir(t), Subnet: 99})
	if err != nil {
		t.Fatal(err)
	}
	if err := neighbour.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"/run/containerd", "/var/lib/kubelet", "/run/netns"} {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("the neighbour's leaving took %s away: %v", dir, err)
		}
	}
	clients, err := kubernetes.NewForConfig(running.Config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := clients.CoreV1().Nodes().Get(t.Context(), "fairlead", metav1.GetOptions{}); err != nil {
		t.Errorf("the first node's cluster no longer answers: %v", err)
	}
}
