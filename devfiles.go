package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"example.com/fairlead/activities/provider/process"
)

// proxiesDir is where instances of the local stack live.
func proxiesDir(stateDir string) string { return filepath.Join(stateDir, "proxies") }

// writeDefaultProviders makes the providers file of the local stack, unless there
// is one.
func writeDefaultProviders(file, proxies string) error {
	text := fmt.Sprintf(`# The providers that a Proxy can name in spec.provider. This file is read again when
# it changes; docs/providers.md describes it.
providers:
  - name: process        # forward proxies as local processes
    type: process
    process:
      stateDir: %s
  - name: squid          # Squid pods; they need a node: make dev NODE=1
    type: kubernetes
    kubernetes:
      image: localhost/squid:dev
`, proxies)
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // #nosec G304 -- in the state directory
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("make the providers file: %w", err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write the providers file %s: %w", file, err)
	}
	return nil
}

// endProxies ends the instances of a state that is about to be removed: nobody
// would know of them any more.
func endProxies(ctx context.Context, stateDir string) error {
	p, err := process.New(process.Options{Settings: process.Settings{StateDir: proxiesDir(stateDir)}, ClusterID: "any"})
	if err != nil {
		return err
	}
	return p.DeleteAll(ctx)
}
