package server

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"

	"k8s.io/utils/clock"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"example.com/fairlead/api/lease"
)

var goodTokenName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,62}$`)

// tokensFile is the file's content. Hashes of random tokens need no salt.
type tokensFile struct {
	Tokens []tokenEntry `json:"tokens"`
}

type tokenEntry struct {
	Name   string      `json:"name"`
	SHA256 string      `json:"sha256"`
	Scopes []Scope     `json:"scopes"`
	Quota  *tokenQuota `json:"quota,omitempty"`
}

// tokenQuota bounds what the token may have at a time; what is left out is not bounded.
type tokenQuota struct {
	Leases  *int `json:"leases,omitempty"`
	Waiting *int `json:"waiting,omitempty"`
}

// Tokens are the bearer tokens of a file, which is read again when it changes.
type Tokens struct {
	file watched[[]entry]
}

type entry struct {
	caller

	hash [sha256.Size]byte
}

// OpenTokens reads the tokens file at path. It returns nil, which disables
// authentication, for no path and for a file without tokens; a file that is
// missing is an error, lest a typing mistake open the API to everybody.
func OpenTokens(path string, log *slog.Logger, c clock.PassiveClock) (*Tokens, error) {
	if path == "" {
		return nil, nil
	}
	t := &Tokens{watched[[]entry]{kind: "tokens file", path: path, parse: readTokens, log: log, clock: c}}
	if err := t.file.open(); err != nil {
		return nil, err
	}
	if len(t.file.value) == 0 {
		return nil, nil
	}
	// From now on a file that became empty is a slip: it must let nobody in.
	t.file.parse = func(data []byte) ([]entry, error) {
		entries, err := readTokens(data)
		if err == nil && len(entries) == 0 {
			err = errors.New("it holds no tokens any more: restart the API to disable authentication")
		}
		return entries, err
	}
	return t, nil
}

// find compares with all hashes, whichever matches, so that the time it takes tells
// nothing.
func (t *Tokens) find(token string) (caller, bool) {
	hash := sha256.Sum256([]byte(token))
	entries, _ := t.file.current()
	found := -1
	for i := range entries {
		if subtle.ConstantTimeCompare(hash[:], entries[i].hash[:]) == 1 {
			found = i
		}
	}
	if found < 0 {
		return caller{}, false
	}
	return entries[found].caller, true
}

func readTokens(data []byte) ([]entry, error) {
	parsed, err := parseTokens(data)
	if err != nil {
		return nil, err
	}
	entries := make([]entry, len(parsed.Tokens))
	for i, p := range parsed.Tokens {
		entries[i].caller = caller{name: p.Name, scopes: p.Scopes, quota: p.Quota.quota()}
		copy(entries[i].hash[:], p.hash())
	}
	return entries, nil
}

func parseTokens(data []byte) (tokensFile, error) {
	var f tokensFile
	if len(bytes.TrimSpace(data)) == 0 {
		return f, nil
	}
	if err := yaml.UnmarshalStrict(data, &f); err != nil {
		if misspelt := misspeltIn(data, &f); misspelt != nil {
			err = misspelt
		}
		return f, fmt.Errorf("it must be YAML of the form tokens: [{name, sha256, scopes, quota: {leases, waiting}}]: %w", err)
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

// misspeltIn is the error of a file whose fields are not all known, nil for any other file.
func misspeltIn(data []byte, v any) error {
	text, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil // so it is no YAML, which another error says
	}
	strict, err := kjson.UnmarshalStrict(text, v)
	if err != nil || len(strict) == 0 {
		return nil
	}
	return misspelt(strict, v)
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
	if err := e.Quota.validate(); err != nil {
		return fmt.Errorf("quota of %s: %w", e.Name, err)
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

func (q *tokenQuota) validate() error {
	if q == nil {
		return nil
	}
	if q.Leases != nil && *q.Leases < 1 {
		return fmt.Errorf("leases is %d: give 1 or more, or leave it out for no bound", *q.Leases)
	}
	if q.Waiting != nil && *q.Waiting < 1 {
		return fmt.Errorf("waiting is %d: give 1 or more, or leave it out for no bound", *q.Waiting)
	}
	return nil
}

func (q *tokenQuota) quota() lease.Quota {
	var bound lease.Quota
	if q != nil && q.Leases != nil {
		bound.Leases = *q.Leases
	}
	if q != nil && q.Waiting != nil {
		bound.Waiting = *q.Waiting
	}
	return bound
}
