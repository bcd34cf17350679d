//go:build node

package kubernetes_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/kubernetes"
	"example.com/fairlead/activities/provider/providertest"
	"example.com/fairlead/api/crawl/secrets"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/deploy/local"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/internal/eventually"
)

const nodeImage = "localhost/squid:dev"

// nodeBackend is a namespace of the cluster whose pods run.
func nodeBackend(t *testing.T) (*local.Cluster, string, provider.Provider) {
	t.Helper()
	cluster := localtest.Node(t)
	c, err := client.New(cluster.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "pods-", Labels: map[string]string{
		"pod-security.kubernetes.io/enforce": "restricted",
	}}}
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // with all pods: the node is small
		if err := c.Delete(context.Background(), ns); err != nil {
			t.Error(err)
		}
	})
	eventually.Until(t, "the namespace has its service account", func() bool {
		return c.Get(t.Context(), client.ObjectKey{Namespace: ns.Name, Name: "default"}, &corev1.ServiceAccount{}) == nil
	})
	p, err := kubernetes.New(kubernetes.Options{
		Settings:  kubernetes.Settings{Image: nodeImage},
		ClusterID: providertest.Cluster,
		Client:    c,
	})
	if err != nil {
		t.Fatal(err)
	}
	return cluster, ns.Name, p
}

// run makes an instance and waits until it serves.
func run(t *testing.T, p provider.Provider, req provider.Request) provider.Instance {
	t.Helper()
	inst, err := p.Create(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	eventually.Until(t, "the pod serves", func() bool {
		if inst, err = p.Get(t.Context(), req.ID); err != nil {
			t.Fatal(err)
		}
		return inst.State == provider.Running
	})
	return inst
}

// serveInNode answers the caller's address from inside the node's network.
func serveInNode(t *testing.T, cluster *local.Cluster) string {
	t.Helper()
	listener, err := cluster.Node.Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		_, _ = fmt.Fprint(w, host, " via=", r.Header.Get("Via"), " for=", r.Header.Get("X-Forwarded-For"), " auth=", r.Header.Get("Proxy-Authorization"))
	})}
	go func() { _ = server.Serve(listener) }() // ends with the listener
	t.Cleanup(func() { _ = server.Close() })
	return "http://" + listener.Addr().String()
}

// ask sends a request through the instance.
func ask(t *testing.T, inst provider.Instance, user *url.Userinfo, target string) (int, string) {
	t.Helper()
	proxy := &url.URL{Scheme: "http", User: user, Host: net.JoinHostPort(inst.Host, fmt.Sprint(inst.Port))}
	c := &http.Client{Timeout: time.Minute, Transport: &http.Transport{Proxy: http.ProxyURL(proxy), DisableKeepAlives: true}}
	resp, err := c.Get(target)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestNodePodContract(t *testing.T) {
	providertest.Run(t, func(t *testing.T) providertest.Harness {
		cluster, namespace, _ := nodeBackend(t)
		c, err := client.New(cluster.Config, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		h := (&backend{t: t, client: c, namespace: namespace}).harness(func(b *backend, clusterID string) provider.Provider {
			p, err := kubernetes.New(kubernetes.Options{
				Settings:  kubernetes.Settings{Namespace: b.namespace, Image: nodeImage},
				ClusterID: clusterID,
				Client:    b.client,
			})
			if err != nil {
				t.Fatal(err)
			}
			return p
		})
		h.Place, h.Settle = namespace, nil
		h.Stop = func(t *testing.T, id provider.ID) {
			overrun(t, c, client.ObjectKey{Namespace: namespace, Name: id.Name})
		}
		return h
	})
}

// overrun makes the kubelet end a pod for good.
func overrun(t *testing.T, c client.Client, key client.ObjectKey) {
	t.Helper()
	var pod corev1.Pod
	if err := c.Get(t.Context(), key, &pod); err != nil {
		t.Fatal(err)
	}
	before := pod.DeepCopy()
	pod.Spec.ActiveDeadlineSeconds = ptr.To[int64](1)
	if err := c.Patch(t.Context(), &pod, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

func TestNodePodProxiesAndSaysNothingOfItself(t *testing.T) {
	cluster, namespace, p := nodeBackend(t)
	inst := run(t, p, providertest.Harness{Place: namespace}.Request(providertest.Cluster, "a"))
	want := inst.Host + " via= for= auth="
	if status, body := ask(t, inst, nil, serveInNode(t, cluster)); status != http.StatusOK || body != want {
		t.Errorf("through the pod the target answered %d %q, want %q", status, body, want)
	}
	if status, _ := ask(t, inst, nil, "http://127.0.0.1:3128/"); status != http.StatusForbidden {
		t.Errorf("of its own loopback address the pod answered %d", status)
	}
}

func TestNodePodAsksForCredentials(t *testing.T) {
	cluster, namespace, p := nodeBackend(t)
	req := providertest.Harness{Place: namespace}.Request(providertest.Cluster, "a")
	req.Spec.Port = 8888
	req.Credentials = &secrets.Credentials{Username: "crawler", Password: "p w%41:é"}
	inst := run(t, p, req)
	target := serveInNode(t, cluster)
	for name, test := range map[string]struct {
		user   *url.Userinfo
		status int
	}{
		"the right ones":   {url.UserPassword("crawler", "p w%41:é"), http.StatusOK},
		"none":             {nil, http.StatusProxyAuthRequired},
		"a wrong password": {url.UserPassword("crawler", "p"), http.StatusProxyAuthRequired},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := ask(t, inst, test.user, target)
			if status != test.status {
				t.Errorf("the pod answered %d %q", status, body)
			}
			if want := inst.Host + " via= for= auth="; status == http.StatusOK && body != want {
				t.Errorf("the target answered %q, want %q", body, want)
			}
		})
	}
}

func TestNodePodWithoutItsImageSaysSo(t *testing.T) {
	_, namespace, p := nodeBackend(t)
	req := providertest.Harness{Place: namespace}.Request(providertest.Cluster, "a")
	req.Spec.Kubernetes = &crawl.KubernetesSettings{Image: "localhost:1/none:none"}
	if _, err := p.Create(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	eventually.Until(t, "the message names the image", func() bool {
		inst, err := p.Get(t.Context(), req.ID)
		if err != nil {
			t.Fatal(err)
		}
		return inst.State == provider.Provisioning && strings.Contains(inst.Message, "localhost:1/none:none")
	})
}
