package server

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"
)

// recheckAfter is how often the tokens file is looked at.
const recheckAfter = time.Second

var goodTokenName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,62}$`)

// tokensFile is the file's content. Hashes of random tokens need no salt.
type tokensFile struct {
	Tokens []tokenEntry `json:"tokens"`
}

type tokenEntry struct {
	Name   string  `json:"name"`
	SHA256 string  `json:"sha256"`
	Scopes []Scope `json:"scopes"`
}

// Tokens are the bearer tokens of a file, which is read again when it changes.
type Tokens struct {
	path  string
	log   *slog.Logger
	clock clock.PassiveClock

	mu      sync.Mutex
	entries []entry
	seen    fileVersion
	checked time.Time
}

type entry struct {
	caller

	hash [sha256.Size]byte
}

// fileVersion tells whether a file has changed.
type fileVersion struct {
	modified time.Time
	size     int64
	failed   bool
}

// OpenTokens reads the tokens file at path. It returns nil, which disables
// authentication, for no path and for a file without tokens; a file that is
// missing is an error, lest a typing mistake open the API to everybody.
func OpenTokens(path string, log *slog.Logger, c clock.PassiveClock) (*Tokens, error) {
	if path == "" {
		return nil, nil
	}
	t := &Tokens{path: path, log: log, clock: c}
	if err := t.load(); err != nil {
		return nil, err
	}
	if len(t.entries) == 0 {
		return nil, nil
	}
	return t, nil
}

// find compares with all hashes, whichever matches, so that the time it takes tells
// nothing.
func (t *Tokens) find(token string) (caller, bool) {
	hash := sha256.Sum256([]byte(token))
	var found caller
	ok := false
	for _, e := range t.current() {
		if subtle.ConstantTimeCompare(hash[:], e.hash[:]) == 1 {
			found, ok = e.caller, true
		}
	}
	return found, ok
}

// current looks at the file at most once a second. A file that became invalid or
// empty keeps the last good tokens: a slip must lock nobody out and let nobody in.
func (t *Tokens) current() []entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock.Now()
	if now.Sub(t.checked) < recheckAfter {
		return t.entries
	}
	t.checked = now
	if t.version() == t.seen {
		return t.entries
	}
	old := t.entries
	err := t.load()
	switch {
	case err == nil && len(t.entries) == 0:
		err = fmt.Errorf("tokens file %s holds no tokens any more: restart the API to disable authentication", t.path)
		fallthrough
	case err != nil:
		t.entries = old
		t.log.Error("the tokens file cannot be used, the last good one stays in force", "error", err)
	default:
		t.log.Info("tokens file read again", "tokens", len(t.entries))
	}
	return t.entries
}

func (t *Tokens) version() fileVersion {
	info, err := os.Stat(t.path)
	if err != nil {
		return fileVersion{failed: true}
	}
	return fileVersion{modified: info.ModTime(), size: info.Size()}
}

func (t *Tokens) load() error {
	t.seen = t.version() // before reading: a change in between is seen next time
	t.checked = t.clock.Now()
	data, err := os.ReadFile(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("tokens file %s does not exist: create it, or give none", t.path)
	}
	if err != nil {
		return fmt.Errorf("read tokens file: %w", err)
	}
	parsed, err := parseTokens(data)
	if err != nil {
		return fmt.Errorf("tokens file %s: %w", t.path, err)
	}
	t.entries = make([]entry, len(parsed.Tokens))
	for i, p := range parsed.Tokens {
		t.entries[i].caller = caller{name: p.Name, scopes: p.Scopes}
		copy(t.entries[i].hash[:], p.hash())
	}
	return nil
}

func parseTokens(data []byte) (tokensFile, error) {
	var f tokensFile
	if len(bytes.TrimSpace(data)) == 0 {
		return f, nil
	}
	if err := yaml.UnmarshalStrict(data, &f); err != nil {
		return f, fmt.Errorf("it must be YAML of the form tokens: [{name, sha256, scopes}]: %w", err)
	}
	names, hashes := map[string]bool{}, map[string]bool{}
	for i, e := range f.Tokens {
		if err := e.validate(); err != nil {
			return f, fmt.Errorf("tokens[%d]: %w", i, err)
		}
		if names[e.Name] || hashes[string(e.hash())] {
			return f, fmt.Errorf("tokens[%d]: name %q or its sha256 is there twice", i, e.Name)
		}
		names[e.Name], hashes[string(e.hash())] = true, true
	}
	return f, nil
}

func (e tokenEntry) validate() error {
	switch {
	case !goodTokenName.MatchString(e.Name):
		return fmt.Errorf("name %q: use 1 to 63 letters, digits and ._@-", e.Name)
	case len(e.hash()) != sha256.Size:
		return fmt.Errorf("sha256 of %s must be the 64 hexadecimal digits of the token's SHA-256", e.Name)
	case len(e.Scopes) == 0:
		return fmt.Errorf("scopes of %s: give at least one of %v", e.Name, scopes)
	}
	for _, s := range e.Scopes {
		if !slices.Contains(scopes, s) {
			return fmt.Errorf("scopes of %s: %q is none of %v", e.Name, s, scopes)
		}
	}
	return nil
}

// hash is nil when it is not hexadecimal.
func (e tokenEntry) hash() []byte {
	h, err := hex.DecodeString(e.SHA256)
	if err != nil {
		return nil
	}
	return h
}
