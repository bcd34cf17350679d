package kube_test

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"

	"example.com/fairlead/api/kube"
)

const content = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://192.0.2.1"}}]
contexts: [{name: x, context: {cluster: c}}]
current-context: x
`

func TestNoAccessHasALimitOfItsOwn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", file)
	for name, read := range map[string]func() (*rest.Config, error){
		"a file":                      func() (*rest.Config, error) { return kube.Load(file) },
		"the file of the environment": func() (*rest.Config, error) { return kube.Load("") },
		"its content":                 func() (*rest.Config, error) { return kube.Decode([]byte(content)) },
	} {
		t.Run(name, func(t *testing.T) {
			c, err := read()
			if err != nil || c.Host != "https://192.0.2.1" || c.QPS >= 0 {
				t.Errorf("the access is %v, %v", c, err)
			}
		})
	}
	if _, err := kube.Load(file + ".none"); !os.IsNotExist(err) {
		t.Errorf("a file that is not there gave %v", err)
	}
}
