package localtest

import (
	"log/slog"
	"path/filepath"
	"testing"

	temporalclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/api/kube"
)

// Quiet is a log that nobody reads.
func Quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// Client gives a client that knows all types of Fairlead.
func Client(t testing.TB, config *rest.Config) client.WithWatch {
	t.Helper()
	scheme, err := kube.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Namespace makes a namespace of the test's own, and returns its name: the stem and
// what no other has.
func Namespace(t testing.TB, c client.Client, stem string) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: stem + "-"}}
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatalf("make a namespace for %s: %v", stem, err)
	}
	return ns.Name
}

// Kubeconfig writes a file that says what config says, for programs.
func Kubeconfig(t testing.TB, config *rest.Config) (path string) {
	t.Helper()
	const name = "test"
	path = filepath.Join(t.TempDir(), "kubeconfig")
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{name: {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {
			ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken,
			Impersonate: config.Impersonate.UserName,
		}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}, path)
	if err != nil {
		t.Fatalf("write a kubeconfig: %v", err)
	}
	return path
}

// TemporalClient gives a client of a Temporal namespace that no other test uses.
func TemporalClient(t testing.TB, edits ...func(*temporalclient.Options)) temporalclient.Client {
	t.Helper()
	address, namespace := Temporal(t)
	return DialTemporal(t, address, namespace, edits...)
}

// DialTemporal gives a client that is closed when the test ends. Edits change what it
// is made of.
func DialTemporal(t testing.TB, address, namespace string, edits ...func(*temporalclient.Options)) temporalclient.Client {
	t.Helper()
	o := temporalclient.Options{HostPort: address, Namespace: namespace, Logger: log.NewStructuredLogger(Quiet())}
	for _, edit := range edits {
		edit(&o)
	}
	c, err := temporalclient.DialContext(t.Context(), o)
	if err != nil {
		t.Fatalf("connect to Temporal at %s: %v", address, err)
	}
	t.Cleanup(c.Close)
	return c
}
