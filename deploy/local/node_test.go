//go:build node

package local_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/fairlead/deploy/local"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/internal/eventually"
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

func TestNodePodProxiesARequestAndNothingIsLeft(t *testing.T) {
	localtest.Alone(t)
	before := machine(t)
	o := options(t)
	o.Node, o.NodeSubnet, o.Ports.Kubernetes = true, 77, 6443
	s := start(t, o)
	createSquid(t, s.RESTConfig)
	proxiesThroughPod(t, s)
	stop(t, s)
	nothingRuns(t, o.StateDir)
	if diff := cmp.Diff(before, machine(t)); diff != "" {
		t.Errorf("the machine is not as before (-before +after):\n%s", diff)
	}
}

func TestNodePodComesBackAfterEverythingWasKilled(t *testing.T) {
	localtest.Alone(t)
	before := machine(t)
	o := options(t)
	o.Node, o.NodeSubnet, o.Ports.Kubernetes = true, 78, 6443
	killed := startElsewhere(t, o)
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(o.StateDir, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	createSquid(t, config)
	readyPod(t, config)
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait() // the kill is its error

	s := start(t, o)
	proxiesThroughPod(t, s)
	stop(t, s)
	nothingRuns(t, o.StateDir)
	if diff := cmp.Diff(before, machine(t)); diff != "" {
		t.Errorf("the machine is not as before (-before +after):\n%s", diff)
	}
}

// proxiesThroughPod sends a request through the pod to the echo target.
func proxiesThroughPod(t *testing.T, s *local.Stack) {
	t.Helper()
	eventually.Until(t, "a request reaches the target through the pod", func() bool {
		address := readyPod(t, s.RESTConfig)
		proxied := http.Client{
			Timeout: settleTimeout,
			Transport: &http.Transport{
				Proxy:             http.ProxyURL(&url.URL{Scheme: "http", Host: address + ":3128"}),
				DisableKeepAlives: true,
			},
		}
		resp, err := proxied.Get(s.NodeEchoURL)
		if err != nil {
			return false // the pod's readiness may be of before the restart
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		return err == nil && string(body) == address+"\n"
	})
}

// createSquid makes a Squid pod.
func createSquid(t *testing.T, config *rest.Config) {
	t.Helper()
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	ns := metav1.NamespaceDefault
	conf := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "squid"}, Data: map[string]string{"squid.conf": squidConf}}
	if _, err := clients.CoreV1().ConfigMaps(ns).Create(t.Context(), conf, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "squid"}}
	pod.Spec.Volumes = []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "squid"}},
	}}}
	pod.Spec.Containers = []corev1.Container{{
		Name: "squid", Image: "localhost/squid:dev", ImagePullPolicy: corev1.PullNever,
		VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/squid"}},
		ReadinessProbe: &corev1.Probe{
			PeriodSeconds: 1,
			ProbeHandler:  corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(3128)}},
		},
	}}
	if _, err := clients.CoreV1().Pods(ns).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// readyPod waits until the Squid pod is ready and gives its address.
func readyPod(t *testing.T, config *rest.Config) string {
	t.Helper()
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	var address string
	eventually.Until(t, "the Squid pod is ready", func() bool {
		pod, err := clients.CoreV1().Pods(metav1.NamespaceDefault).Get(t.Context(), "squid", metav1.GetOptions{})
		if err != nil {
			return false
		}
		address = pod.Status.PodIP
		return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
	})
	return address
}

// machine is what a node might leave on the machine, by what it is.
func machine(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{
		"namespaces":     output(t, "ip", "netns", "list"),
		"links":          output(t, "ip", "-o", "link", "show"),
		"routes":         output(t, "ip", "route", "show", "table", "all"),
		"packet filter":  output(t, "iptables-save"),
		"mounts":         content(t, "/proc/self/mountinfo"),
		"control groups": strings.Join(glob(t, "/sys/fs/cgroup/*", "/sys/fs/cgroup/*/*"), "\n"),
		"settings":       settings(t),
		"directories":    strings.Join(below(t, "/var/lib/kubelet", "/var/lib/cni", "/var/log/containers", "/var/log/pods", "/run/containerd"), "\n"),
	}
}

// output is what a command says.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), name, args...) // #nosec G204 -- the commands above
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

func content(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file) // #nosec G304 -- of the kernel
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// settings are those that kubelet changes, as far as this kernel has them.
func settings(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, file := range glob(t, "/proc/sys/kernel/panic*", "/proc/sys/kernel/keys/root_max*", "/proc/sys/vm/overcommit_memory", "/proc/sys/vm/panic_on_oom") {
		fmt.Fprintf(&all, "%s = %s", file, content(t, file))
	}
	return all.String()
}

func glob(t *testing.T, patterns ...string) []string {
	t.Helper()
	var found []string
	for _, p := range patterns {
		names, err := filepath.Glob(p)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, names...)
	}
	if len(found) == 0 {
		t.Fatalf("nothing is called %v", patterns)
	}
	return found
}

// below lists the trees under roots; one that is not there is nothing to see.
func below(t *testing.T, roots ...string) []string {
	t.Helper()
	var found []string
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			found = append(found, path)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}
