package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
)

func fetched(t *testing.T, at string) []byte {
	t.Helper()
	w := httptest.NewRecorder()
	repository{}.ServeHTTP(w, httptest.NewRequest(http.MethodGet, at, nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d", at, w.Code)
	}
	return w.Body.Bytes()
}

func TestTheRepositoryServesBothVersions(t *testing.T) {
	index := string(fetched(t, "/life-0001/index.yaml"))
	for _, version := range []string{firstVersion, secondVersion} {
		data := fetched(t, "/life-0001/life-0001-"+version+".tgz")
		sum := sha256.Sum256(data)
		if !strings.Contains(index, "digest: "+hex.EncodeToString(sum[:])) {
			t.Errorf("the index has not the digest of %s:\n%s", version, index)
		}
		c, err := loader.LoadArchive(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if c.Name() != "life-0001" || c.Metadata.Version != version || len(c.CRDObjects()) != 1 {
			t.Errorf("chart %s %s with %d definitions", c.Name(), c.Metadata.Version, len(c.CRDObjects()))
		}
	}
}
