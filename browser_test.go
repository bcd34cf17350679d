package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"example.com/fairlead/deploy/local/ports"
	"example.com/fairlead/internal/eventually"
)

// browser is headless Chromium, driven over the WebDriver protocol
// (W3C WebDriver, sections 8 to 10 and 17).
type browser struct {
	t       *testing.T
	session string // URL of the session
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	free, err := ports.Reserve(1)
	if err != nil {
		t.Fatal(err)
	}
	driver := exec.Command("chromedriver", fmt.Sprintf("--port=%d", free.Ports[0])) // #nosec G204 -- a number
	if err := driver.Start(); err != nil {
		t.Fatalf("start chromedriver (Debian packages chromium and chromium-driver): %v", err)
	}
	b := &browser{t: t}
	profile := t.TempDir() // before the cleanup that ends the browser, so removed after it
	base := fmt.Sprintf("http://127.0.0.1:%d", free.Ports[0])
	t.Cleanup(func() {
		if b.session != "" {
			b.do(http.MethodDelete, b.session, nil, nil)
		}
		_ = driver.Process.Kill()
		_ = driver.Wait()
		free.Release()
	})
	eventually.Sees(t, "chromedriver answers", 30*time.Second, func() (bool, string) {
		resp, err := http.Get(base + "/status") // #nosec G107 -- on loopback
		if err != nil {
			return false, err.Error()
		}
		return resp.StatusCode == http.StatusOK, resp.Status
	})
	args := []string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--user-data-dir=" + profile, "--window-size=1500,1200",
	}
	var created struct{ SessionID string }
	b.do(http.MethodPost, base+"/session", map[string]any{"capabilities": map[string]any{
		"alwaysMatch": map[string]any{"goog:chromeOptions": map[string]any{"args": args}},
	}}, &created)
	b.session = base + "/session/" + created.SessionID
	return b
}

// see opens a page, waits until its text has all words, and keeps a picture of it.
func (b *browser) see(page, picture string, words ...string) {
	b.t.Helper()
	b.do(http.MethodPost, b.session+"/url", map[string]any{"url": page}, nil)
	eventually.Sees(b.t, fmt.Sprintf("%s shows %v", page, words), 30*time.Second, func() (bool, string) {
		var text string
		b.do(http.MethodPost, b.session+"/execute/sync", map[string]any{"script": "return document.body.innerText", "args": []any{}}, &text)
		for _, w := range words {
			if !strings.Contains(text, w) {
				return false, text
			}
		}
		return true, ""
	})
	var png string
	b.do(http.MethodGet, b.session+"/screenshot", nil, &png)
	data, err := base64.StdEncoding.DecodeString(png)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(picture, data, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) do(method, url string, body, value any) {
	b.t.Helper()
	var in io.Reader
	if method == http.MethodPost {
		data, err := json.Marshal(body)
		if err != nil {
			b.t.Fatal(err)
		}
		in = bytes.NewReader(data)
	}
	req, err := http.NewRequest(method, url, in) // #nosec G107 -- on loopback
	if err != nil {
		b.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.t.Fatalf("browser: %v", err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	answer := struct{ Value any }{value}
	if err := json.Unmarshal(data, &answer); err != nil || resp.StatusCode != http.StatusOK {
		b.t.Fatalf("browser: %s %s answered %s: %.500s (%v)", method, url, resp.Status, data, err)
	}
}
