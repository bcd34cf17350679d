package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// ErrUnknownProvider is returned for a name that is not in the providers file.
var ErrUnknownProvider = errors.New("unknown provider")

// reloadEvery is how often the providers file is looked at. Content is compared,
// because a mounted ConfigMap changes by swapping symbolic links.
const reloadEvery = time.Second

// Builder makes the provider with this name from its settings block, which
// DecodeSettings reads. It must not wait for the backend. The result must be
// comparable: a pointer.
type Builder func(name string, settings json.RawMessage) (Provider, error)

// NamesOnly makes builders for whoever only needs the names: they look at no
// settings and need no access to a backend. No method of what they build may be
// called.
func NamesOnly(types ...string) map[string]Builder {
	builders := map[string]Builder{}
	for _, t := range types {
		builders[t] = func(name string, _ json.RawMessage) (Provider, error) { return &nameOnly{name: name}, nil }
	}
	return builders
}

type nameOnly struct {
	Provider
	name string
}

// Registry holds the providers of the providers file.
type Registry struct {
	path     string
	builders map[string]Builder
	log      *slog.Logger
	every    time.Duration

	mu          sync.Mutex
	content     string // of the file as last judged
	verdict     error  // on that content
	told        string // the problem that was told last; empty for none
	providers   map[string]registered
	subscribers []chan struct{}
}

type registered struct {
	entry
	provider Provider
}

// Load reads the providers file at path; builders has one Builder for each type.
func Load(path string, builders map[string]Builder, log *slog.Logger) (*Registry, error) {
	r := &Registry{path: path, builders: builders, log: log, every: reloadEvery}
	content, err := os.ReadFile(path) // #nosec G304 -- the file the operator named
	if err != nil {
		return nil, fmt.Errorf("read providers file: %w", err)
	}
	if err := r.apply(string(content)); err != nil {
		return nil, err
	}
	return r, nil
}

// Get returns the provider with this name, or ErrUnknownProvider. It is the same
// value until its entry in the file changes.
func (r *Registry) Get(name string) (Provider, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.providers[name]
	if !ok {
		return nil, fmt.Errorf("%w %q: %s has %s", ErrUnknownProvider, name, r.path, r.known())
	}
	return p.provider, nil
}

// Config returns a hash of what the file says of the provider with this name,
// empty when it says nothing.
func (r *Registry) Config(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.providers[name]
	if !ok {
		return ""
	}
	return p.config()
}

// Type returns the type of the provider with this name, empty when the file has
// none.
func (r *Registry) Type(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.providers[name].Type
}

// Certain says whether the file, as last read, is what the providers are made
// from. While it is invalid or gone, a name that is missing proves nothing.
func (r *Registry) Certain() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.told == ""
}

// Names lists the providers in alphabetical order.
func (r *Registry) Names() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.names()
}

// Changed returns a channel of its own that gets a value after the set of
// providers changed; changes that come close together are told once.
func (r *Registry) Changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := make(chan struct{}, 1)
	r.subscribers = append(r.subscribers, c)
	return c
}

// Follow reads the file again when it changes, until ctx ends. A file that is
// invalid or gone leaves the providers as they are and is told once.
func (r *Registry) Follow(ctx context.Context) error {
	tick := time.NewTicker(r.every)
	defer tick.Stop()
	var last string
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		data, err := os.ReadFile(r.path)
		if err != nil {
			r.tell(fmt.Errorf("read providers file: %w", err))
			continue
		}
		content := string(data)
		// An editor may be half-way through writing: only content that stands still
		// counts.
		if content == last {
			r.tell(r.apply(content))
		}
		last = content
	}
}

// tell logs a new problem, and the end of one.
func (r *Registry) tell(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	problem := ""
	if err != nil {
		problem = err.Error()
	}
	if problem == r.told {
		return
	}
	r.told = problem
	if problem == "" {
		r.log.Info("the providers file is good again", "file", r.path)
		return
	}
	r.log.Error("the providers file cannot be used: the providers stay as they are", "error", problem)
}

// apply makes the providers what content says, or changes nothing.
func (r *Registry) apply(content string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if content == r.content && r.providers != nil {
		return r.verdict
	}
	r.content = content
	providers, changed, err := r.build(content)
	if err != nil {
		r.verdict = fmt.Errorf("providers file %s: %w", r.path, err)
		return r.verdict
	}
	r.verdict, r.providers = nil, providers
	if !changed {
		return nil
	}
	for _, c := range r.subscribers {
		select {
		case c <- struct{}{}:
		default: // one is waiting to be read already
		}
	}
	return nil
}

func (r *Registry) build(content string) (providers map[string]registered, changed bool, err error) {
	entries, err := parseFile([]byte(content), slices.Sorted(maps.Keys(r.builders)))
	if err != nil {
		return nil, false, err
	}
	providers = map[string]registered{}
	for _, e := range entries {
		if was, ok := r.providers[e.Name]; ok && was.same(e) {
			providers[e.Name] = was
			continue
		}
		p, err := r.builders[e.Type](e.Name, e.Settings)
		if err != nil {
			return nil, false, fmt.Errorf("provider %q: %w", e.Name, err)
		}
		providers[e.Name] = registered{entry: e, provider: p}
		changed = true
	}
	return providers, changed || len(providers) != len(r.providers), nil
}

func (r *Registry) names() []string { return slices.Sorted(maps.Keys(r.providers)) }

func (r *Registry) known() string {
	if len(r.providers) == 0 {
		return "no providers"
	}
	return strings.Join(r.names(), ", ")
}
