package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
)

// Names of the clients' tokens, besides those of crawlers.
const (
	nameOperator = "operator"
	nameRecorder = "recorder"
	nameProber   = "prober"
)

func crawlerName(i int) string { return fmt.Sprintf("crawler-%02d", i) }

// tokenOf is a token that is worth nothing outside the run.
func tokenOf(name string) string { return "chaos-" + name }

// writeTokens writes the tokens file of the API.
func writeTokens(path string, crawlers int) error {
	var b strings.Builder
	b.WriteString("tokens:\n")
	add := func(name, scope string) {
		fmt.Fprintf(&b, "  - {name: %s, sha256: %x, scopes: [%s]}\n", name, sha256.Sum256([]byte(tokenOf(name))), scope)
	}
	add(nameOperator, "operator")
	for _, name := range []string{nameRecorder, nameProber} {
		add(name, "crawler")
	}
	for i := range crawlers {
		add(crawlerName(i), "crawler")
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("write the tokens file: %w", err)
	}
	return nil
}
