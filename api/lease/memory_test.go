package lease_test

import (
	"context"
	"errors"
	"maps"
	"sync"

	"example.com/fairlead/api/lease"
)

// errDisk is what a journal that was told to fail says.
var errDisk = errors.New("no space left on device")

// errTaken is the error of a journal that another process has taken over.
var errTaken = errors.New("another process leads")

// memory is a lease.Journal that keeps a map.
type memory struct {
	mu      sync.Mutex
	kept    map[memoryKey]lease.Change
	commits int
	// fail is what Commit returns; inDoubt has it keep the changes all the same.
	fail    error
	inDoubt bool
	lost    error
	closed  bool
	// gate is closed while Commit may go on.
	gate chan struct{}
}

type memoryKey struct {
	kind lease.Kind
	key  string
}

func newMemory(kept map[memoryKey]lease.Change) *memory {
	m := &memory{kept: maps.Clone(kept), gate: make(chan struct{})}
	if m.kept == nil {
		m.kept = map[memoryKey]lease.Change{}
	}
	close(m.gate)
	return m
}

// Load implements lease.Journal.
func (m *memory) Load(_ context.Context, each func(lease.Change) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.kept {
		if err := each(c); err != nil {
			return err
		}
	}
	return nil
}

// Commit implements lease.Journal.
func (m *memory) Commit(_ context.Context, changes []lease.Change) error {
	m.mu.Lock()
	gate := m.gate
	m.mu.Unlock()
	<-gate
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return errors.New("the journal is closed")
	case m.lost != nil:
		return m.lost
	case m.fail != nil && !m.inDoubt:
		return m.fail
	}
	m.commits++
	for _, c := range changes {
		k := memoryKey{c.Kind, c.Key}
		if c.Value == nil {
			delete(m.kept, k)
		} else {
			m.kept[k] = c
		}
	}
	return m.fail
}

// Held implements lease.Journal.
func (m *memory) Held() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return errors.New("the journal is closed")
	}
	return m.lost
}

// Close implements lease.Journal.
func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}

// failing makes each Commit from now on fail with err; in doubt, it keeps the changes.
func (m *memory) failing(err error, inDoubt bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail, m.inDoubt = err, inDoubt
}

// take has another process take the journal over, and returns what that one finds.
func (m *memory) take() map[memoryKey]lease.Change {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lost = errTaken
	return maps.Clone(m.kept)
}

// block holds up each Commit until the returned function is called.
func (m *memory) block() (release func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	gate := make(chan struct{})
	m.gate = gate
	return sync.OnceFunc(func() { close(gate) })
}

// of are the kept changes of a kind.
func (m *memory) of(kind lease.Kind) []lease.Change {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []lease.Change
	for k, c := range m.kept {
		if k.kind == kind {
			all = append(all, c)
		}
	}
	return all
}
