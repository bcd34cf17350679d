package main

import (
	"net/http"
	"net/url"
	"path/filepath"
	"testing"

	"example.com/fairlead/deploy/local/localtest"
)

func TestPartsWaitForWhatTheyNeed(t *testing.T) {
	for _, name := range []string{"worker", "starter"} {
		t.Run(name, func(t *testing.T) {
			config := localtest.ControlPlane(t)
			temporal, namespace := localtest.Temporal(t)
			server, err := url.Parse(config.Host)
			if err != nil {
				t.Fatal(err)
			}
			free := freeAddresses(t, 2)
			config.Host = "https://" + free[0]
			p := startPart(t, name, config, free[1], namespace, "--providers", someProviders(t), "--only", "proxies")
			p.out.says(t, "Temporal cannot be used yet, trying again")
			newRelay(t, free[1], temporal)
			p.out.says(t, "the Kubernetes API does not answer yet, trying again")
			newRelay(t, free[0], server.Host)
			p.becomes(t, "/readyz", http.StatusOK)
		})
	}
}

func TestAPIServesWithoutTemporal(t *testing.T) {
	free := freeAddresses(t, 2)
	launchPart(t, "api", localtest.ControlPlane(t), free[0], "default", "--http-address", free[1], "--leases", filepath.Join(t.TempDir(), "leases.db"))
	for _, path := range []string{"/readyz", "/v1/proxies"} {
		becomes(t, "http://"+free[1]+path, http.StatusOK)
	}
}
