package bolt

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/api/lease"
)

// The test program is also the other process that has the file open.
func TestMain(m *testing.M) {
	if os.Getenv(childMark) != "" {
		if err := child(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// tiny has a file compacted all the time, in many steps.
var tiny = sizes{log: 1 << 10, value: 60, tx: 300}

func newPlace(path string, s sizes) *Place {
	p := New(path, slog.New(slog.DiscardHandler))
	p.sizes = s
	return p
}

const fileName = "leases.db"

func newFile(t testing.TB) string { return filepath.Join(t.TempDir(), fileName) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mustLead opens the file for as long as the test runs.
func mustLead(t testing.TB, p *Place) lease.Journal {
	t.Helper()
	j, err := p.Lead(t.Context())
	must(t, err)
	t.Cleanup(func() { must(t, j.Close()) })
	return j
}

// mustOpen is mustLead without a compactor.
func mustOpen(t testing.TB, p *Place) *journal {
	t.Helper()
	j, err := p.open()
	must(t, err)
	t.Cleanup(func() { must(t, j.Close()) })
	return j
}

// state is what a journal keeps, by kind and key.
type state map[string]string

func (s state) apply(changes []lease.Change) {
	for _, c := range changes {
		name := fmt.Sprintf("%d/%s", c.Kind, c.Key)
		if c.Value == nil {
			delete(s, name)
		} else {
			s[name] = string(c.Value)
		}
	}
}

// load fails when a thing is told twice, or told to be gone.
func load(t testing.TB, j lease.Journal) state {
	t.Helper()
	s := state{}
	must(t, j.Load(t.Context(), func(c lease.Change) error {
		name := fmt.Sprintf("%d/%s", c.Kind, c.Key)
		if _, twice := s[name]; twice || c.Value == nil {
			return fmt.Errorf("%s is told twice, or gone", name)
		}
		s.apply([]lease.Change{c})
		return nil
	}))
	return s
}

func wantState(t testing.TB, j lease.Journal, want state) {
	t.Helper()
	if diff := cmp.Diff(want, load(t, j)); diff != "" {
		t.Errorf("what is kept differs (-want +got):\n%s", diff)
	}
}

// history is a state after n groups that depend on nothing but their number.
type history struct {
	state
	n int
}

func newHistory() *history { return &history{state: state{}} }

// group is the n-th: it names itself, changes one thing twice, another once, and deletes one.
func group(n int) []lease.Change {
	key := func(n int) string { return fmt.Sprintf("lease-%02d", n%37) }
	return []lease.Change{
		{Kind: 9, Key: "last", Value: fmt.Append(nil, n)},
		{Kind: 1, Key: key(n), Value: []byte("replaced at once")},
		{Kind: 1, Key: key(n), Value: []byte(strings.Repeat(fmt.Sprint(n, " "), 10))},
		{Kind: 2, Key: key(n * 3), Value: []byte{}},
		{Kind: 1, Key: key(n * n)},
	}
}

// next commits the next group.
func (h *history) next(ctx context.Context, j lease.Journal) error {
	if err := j.Commit(ctx, group(h.n+1)); err != nil {
		return err
	}
	h.advance()
	return nil
}

func (h *history) advance() {
	h.n++
	h.apply(group(h.n))
}

func (h *history) clone() *history { return &history{state: maps.Clone(h.state), n: h.n} }
