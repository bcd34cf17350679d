package server

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// NewToken makes a token, and the hash by which a tokens file knows it.
func NewToken() (plain, sha256hex string) {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // it never fails
	plain = "fairlead_" + base64.RawURLEncoding.EncodeToString(random)
	return plain, hashToken(plain)
}

// hashToken returns what a tokens file holds of a token.
func hashToken(plain string) string {
	sum := sha256.Sum256([]byte(plain))
	return hex.EncodeToString(sum[:])
}

// EnsureOperatorToken makes sure that plainPath holds a token which the file at
// tokensPath knows as the operator's. It keeps what is there already, other tokens
// included, and may be called again after a crash at any point.
func EnsureOperatorToken(tokensPath, plainPath string) error {
	plain, err := os.ReadFile(filepath.Clean(plainPath))
	token := strings.TrimSpace(string(plain))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the operator's token: %w", err)
	}
	if token == "" {
		token, _ = NewToken()
		if err := writeSecret(plainPath, []byte(token+"\n")); err != nil {
			return fmt.Errorf("write the operator's token: %w", err)
		}
	}
	data, err := os.ReadFile(filepath.Clean(tokensPath))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read tokens file: %w", err)
	}
	f, err := parseTokens(data)
	if err != nil {
		return fmt.Errorf("tokens file %s: %w", tokensPath, err)
	}
	own := tokenEntry{Name: "operator", SHA256: hashToken(token), Scopes: []Scope{ScopeOperator}}
	if slices.ContainsFunc(f.Tokens, func(e tokenEntry) bool { return strings.EqualFold(e.SHA256, own.SHA256) }) {
		return nil
	}
	f.Tokens = append(slices.DeleteFunc(f.Tokens, func(e tokenEntry) bool { return e.Name == own.Name }), own)
	if data, err = yaml.Marshal(f); err != nil {
		return fmt.Errorf("write tokens file: %w", err)
	}
	if err := writeSecret(tokensPath, data); err != nil {
		return fmt.Errorf("write tokens file: %w", err)
	}
	return nil
}

// writeSecret replaces the file as a whole: nobody reads half of it.
func writeSecret(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return fmt.Errorf("create a file beside %s: %w", path, err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("replace %s: %w", path, err), os.Remove(f.Name()))
	}
	return nil
}
