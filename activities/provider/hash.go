package provider

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"example.com/fairlead/api/crawl/secrets"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

// HashVersion prefixes every hash; one of another version proves no difference.
const HashVersion = "v1:"

// hashIterations make guessing a password from a published hash slow.
const hashIterations = 20_000

// Hash is over all that shapes an instance: port, the settings block without the
// choice of place, resolved cloud-init and credentials. uid salts the part that
// is secret.
func Hash(uid string, spec *crawl.ProxySpec, userData []byte, cred *secrets.Credentials) (string, error) {
	shape := struct {
		Port       int32
		Kubernetes *crawl.KubernetesSettings
		GCP        *crawl.GCPSettings
		KVM        *crawl.KVMSettings
		Sealed     string
	}{Port: spec.Port, Kubernetes: spec.Kubernetes}
	if spec.GCP != nil {
		gcp := *spec.GCP
		gcp.Zone, gcp.Zones = "", nil
		shape.GCP = &gcp
	}
	if spec.KVM != nil {
		kvm := *spec.KVM
		kvm.Host = ""
		shape.KVM = &kvm
	}
	if userData != nil || cred != nil {
		secret, err := hashSecret(uid, userData, cred)
		if err != nil {
			return "", err
		}
		shape.Sealed = secret
	}
	data, err := json.Marshal(shape)
	if err != nil {
		return "", fmt.Errorf("hash the shape of an instance: %w", err)
	}
	sum := sha256.Sum256(data)
	return HashVersion + hex.EncodeToString(sum[:8]), nil
}

func hashSecret(uid string, userData []byte, cred *secrets.Credentials) (string, error) {
	data, err := json.Marshal(struct {
		UserData    []byte
		Credentials *secrets.Credentials
	}{userData, cred})
	if err != nil {
		return "", fmt.Errorf("hash what is secret of an instance: %w", err)
	}
	key, err := pbkdf2.Key(sha256.New, string(data), []byte(uid), hashIterations, 16)
	if err != nil {
		return "", fmt.Errorf("hash what is secret of an instance: %w", err)
	}
	return hex.EncodeToString(key), nil
}
