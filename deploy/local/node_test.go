//go:build node

package local_test

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"example.com/fairlead/deploy/local"
)

const squidConf = `http_port 3128
pid_filename none
pinger_enable off
cache deny all
http_access allow all
access_log stdio:/dev/stdout
cache_log /dev/stderr
cache_store_log none
shutdown_lifetime 1 seconds
visible_hostname squid
`

func TestPodProxiesARequestAndNothingIsLeft(t *testing.T) {
	before := machine(t)
	o := options(t)
	o.Node, o.NodeSubnet, o.Ports.Kubernetes = true, 77, 6443
	s := start(t, o)
	stopped := false
	defer func() {
		if !stopped {
			stop(t, s)
		}
	}()

	address := runSquid(t, s)
	proxied := http.Client{
		Timeout:   settleTimeout,
		Transport: &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: address + ":3128"}), DisableKeepAlives: true},
	}
	if got := fetchWith(t, &proxied, s.NodeEchoURL); got != address+"\n" {
		t.Errorf("through the pod the echo target answers %q, want %q", got, address)
	}
	stop(t, s)
	stopped = true
	nothingRuns(t, o.StateDir)
	if diff := cmp.Diff(before, machine(t)); diff != "" {
		t.Errorf("the machine is not as before (-before +after):\n%s", diff)
	}
}

func TestRestartCleansUpAfterKillingEverything(t *testing.T) {
	before := machine(t)
	o := options(t)
	o.Node, o.NodeSubnet, o.Ports.Kubernetes = true, 78, 6443
	killed := startElsewhere(t, o)
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait() // the kill is its error

	s := start(t, o)
	runSquid(t, s)
	stop(t, s)
	nothingRuns(t, o.StateDir)
	if diff := cmp.Diff(before, machine(t)); diff != "" {
		t.Errorf("the machine is not as before (-before +after):\n%s", diff)
	}
}

// runSquid runs a pod and gives its address once it is ready.
func runSquid(t *testing.T, s *local.Stack) string {
	t.Helper()
	clients, err := kubernetes.NewForConfig(s.RESTConfig)
	if err != nil {
		t.Fatal(err)
	}
	ns := metav1.NamespaceDefault
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "squid"}, Data: map[string]string{"squid.conf": squidConf}}
	if _, err := clients.CoreV1().ConfigMaps(ns).Create(t.Context(), config, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "squid"}}
	pod.Spec.Volumes = []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "squid"}},
	}}}
	pod.Spec.Containers = []corev1.Container{{
		Name: "squid", Image: "localhost/squid:dev", ImagePullPolicy: corev1.PullNever,
		VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/squid"}},
	}}
	if _, err := clients.CoreV1().Pods(ns).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool {
		if pod, err = clients.CoreV1().Pods(ns).Get(t.Context(), "squid", metav1.GetOptions{}); err != nil {
			return false
		}
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodReady {
				return c.Status == corev1.ConditionTrue
			}
		}
		return false
	})
	return pod.Status.PodIP
}

// machine is what a node might leave on the machine, by what it is.
func machine(t *testing.T) map[string]string {
	t.Helper()
	seen := map[string]string{}
	for name, line := range map[string]string{
		"namespaces":     "ip netns list",
		"links":          "ip -o link show",
		"routes":         "ip route show table all",
		"packet filter":  "iptables-save",
		"mounts":         "cat /proc/self/mountinfo",
		"control groups": "find /sys/fs/cgroup -mindepth 2 -maxdepth 2 -type d",
		"settings":       "sysctl kernel.panic kernel.panic_on_oops kernel.keys.root_maxkeys kernel.keys.root_maxbytes vm.overcommit_memory vm.panic_on_oom",
		"directories":    "find /var/lib/kubelet /var/lib/cni /var/log/containers /var/log/pods /run/containerd",
	} {
		words := strings.Fields(line)
		var out bytes.Buffer
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
		cmd.Stdout = &out
		_ = cmd.Run() // a directory that is not there is nothing to see
		seen[name] = out.String()
	}
	return seen
}

// startElsewhere runs a stack in another process.
func startElsewhere(t *testing.T, o local.Options) *exec.Cmd {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready")
	cmd := exec.Command(os.Args[0], "-test.run=^$") // not of the test's context: it is killed by the test
	cmd.Env = append(os.Environ(), elsewhere(o, ready)...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { _, err := os.Stat(ready); return err == nil })
	return cmd
}

func eventually(t *testing.T, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), settleTimeout)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			t.Fatal("it did not come to be in time")
		case <-tick.C:
		}
	}
}
