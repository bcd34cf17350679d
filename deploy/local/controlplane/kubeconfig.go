package controlplane

import (
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// contextName is the cluster, the user and the context of every kubeconfig.
const contextName = "fairlead"

// WriteKubeconfig writes a kubeconfig of an identity with the certificates in
// it, readable by this user only.
func (c *ControlPlane) WriteKubeconfig(path string, who Identity) error {
	data, err := c.kubeconfig(who)
	if err != nil {
		return fmt.Errorf("write kubeconfig of %s: %w", who, err)
	}
	return writeFile(path, data)
}

func (c *ControlPlane) kubeconfig(who Identity) ([]byte, error) {
	var files [3][]byte
	for i, path := range []string{
		certFile(c.pkiDir, authorityCluster),
		certFile(c.pkiDir, string(who)),
		keyFile(c.pkiDir, string(who)),
	} {
		data, err := os.ReadFile(path) // #nosec G304 -- a path of the state directory
		if err != nil {
			return nil, fmt.Errorf("read certificate: %w", err)
		}
		files[i] = data
	}
	config := clientcmdapi.NewConfig()
	config.Clusters[contextName] = &clientcmdapi.Cluster{Server: c.URL, CertificateAuthorityData: files[0]}
	config.AuthInfos[contextName] = &clientcmdapi.AuthInfo{ClientCertificateData: files[1], ClientKeyData: files[2]}
	config.Contexts[contextName] = &clientcmdapi.Context{Cluster: contextName, AuthInfo: contextName}
	config.CurrentContext = contextName
	data, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("encode kubeconfig: %w", err)
	}
	return data, nil
}
