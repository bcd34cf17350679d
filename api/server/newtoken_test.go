package server_test

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/fairlead/api/server"
)

func TestEnsureOperatorToken(t *testing.T) {
	dir := t.TempDir()
	tokens, plain := filepath.Join(dir, "tokens.yaml"), filepath.Join(dir, "operator.token")
	ensure := func(t *testing.T) (token string) {
		t.Helper()
		if err := server.EnsureOperatorToken(tokens, plain); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(plain)
		if err != nil {
			t.Fatal(err)
		}
		token = strings.TrimSpace(string(data))
		w := newWorld(t)
		w.options.Tokens = w.openTokens(tokens)
		w.build()
		if r := w.do(http.MethodGet, "/v1/leases", "", bearing(token)); r.code != http.StatusOK {
			t.Fatalf("the operator's token does not work: %d", r.code)
		}
		return token
	}
	first := ensure(t)
	for _, path := range []string{tokens, plain} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("%s has mode %o", path, got)
		}
	}
	t.Run("is made once", func(t *testing.T) {
		if again := ensure(t); again != first {
			t.Error("the token changed")
		}
	})
	t.Run("a crash between the two files mends itself", func(t *testing.T) {
		if err := os.Remove(tokens); err != nil {
			t.Fatal(err)
		}
		if again := ensure(t); again != first {
			t.Error("the token changed")
		}
	})
	t.Run("a lost token is replaced, others are kept", func(t *testing.T) {
		other, hash := server.NewToken()
		data, err := os.ReadFile(tokens)
		if err != nil {
			t.Fatal(err)
		}
		writeTokens(t, tokens, strings.TrimPrefix(string(data), "tokens:\n")+strings.Replace(entryFor("read", hash), "}", ", quota: {leases: 7}}", 1))
		if err := os.Remove(plain); err != nil {
			t.Fatal(err)
		}
		if again := ensure(t); again == first {
			t.Error("the lost token is still the operator's")
		}
		w := newWorld(t)
		w.options.Tokens = w.openTokens(tokens)
		w.build()
		if r := w.do(http.MethodGet, "/v1/leases", "", bearing(other)); r.code != http.StatusOK {
			t.Errorf("another token was lost: %d", r.code)
		}
		if data, err = os.ReadFile(tokens); err != nil || !strings.Contains(string(data), "leases: 7") {
			t.Errorf("its quota was lost (%v):\n%s", err, data)
		}
		if r := w.do(http.MethodGet, "/v1/leases", "", bearing(first)); r.code != http.StatusUnauthorized {
			t.Errorf("the lost token still works: %d", r.code)
		}
	})
	t.Run("a folder that is missing is an error, and leaves nothing", func(t *testing.T) {
		err := server.EnsureOperatorToken(filepath.Join(dir, "none", "t"), filepath.Join(dir, "none", "o"))
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v", err)
		}
	})
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("%d files in the folder, want the two (%v)", len(left), err)
	}
}
