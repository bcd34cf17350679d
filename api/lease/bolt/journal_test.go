package bolt

import (
	"context"
	"errors"
	"os"
	"testing"

	"example.com/fairlead/api/lease"
)

func TestCommitsAreLoadedAgain(t *testing.T) {
	set := func(key, value string) lease.Change {
		return lease.Change{Kind: 1, Key: key, Value: []byte(value)}
	}
	gone := func(key string) lease.Change { return lease.Change{Kind: 1, Key: key} }
	for _, c := range []struct {
		name   string
		groups [][]lease.Change
		want   state
	}{
		{"nothing", nil, state{}},
		{"an empty group", [][]lease.Change{{}}, state{}},
		{"one", [][]lease.Change{{set("a", "1")}}, state{"1/a": "1"}},
		{"the last of a group", [][]lease.Change{{set("a", "1"), set("a", "2")}}, state{"1/a": "2"}},
		{"the last group", [][]lease.Change{{set("a", "1")}, {set("a", "2")}}, state{"1/a": "2"}},
		{"deleted in its group", [][]lease.Change{{set("a", "1"), gone("a")}}, state{}},
		{"deleted later", [][]lease.Change{{set("a", "1"), set("b", "1")}, {gone("a")}}, state{"1/b": "1"}},
		{"deleted and set again", [][]lease.Change{{set("a", "1"), gone("a"), set("a", "2")}}, state{"1/a": "2"}},
		{"deleted and set again later", [][]lease.Change{{set("a", "1")}, {gone("a")}, {set("a", "2")}}, state{"1/a": "2"}},
		{"deleted though never set", [][]lease.Change{{gone("a")}}, state{}},
		{"kinds are apart", [][]lease.Change{{set("a", "1"), {Kind: 2, Key: "a", Value: []byte("2")}}, {gone("a")}}, state{"2/a": "2"}},
		{"empty is not gone", [][]lease.Change{{set("a", ""), set("", "x")}}, state{"1/a": "", "1/": "x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			place := newPlace(newFile(t), defaultSizes)
			j := mustLead(t, place)
			for _, group := range c.groups {
				must(t, j.Commit(t.Context(), group))
			}
			wantState(t, j, c.want)
			must(t, j.Close())
			wantState(t, mustLead(t, place), c.want)
		})
	}
}

func TestALargeGroupIsKept(t *testing.T) {
	place := newPlace(newFile(t), defaultSizes)
	j := mustLead(t, place)
	want := state{}
	var changes []lease.Change
	for n := range 40_000 {
		changes = append(changes, group(n)...)
	}
	want.apply(changes)
	must(t, j.Commit(t.Context(), changes))
	must(t, j.Close())
	wantState(t, mustLead(t, place), want)
}

func TestTheLoadedBytesAreNotTheFiles(t *testing.T) {
	place := newPlace(newFile(t), defaultSizes)
	j := mustLead(t, place)
	h := newHistory()
	must(t, h.next(t.Context(), j))
	var kept []lease.Change
	must(t, j.Load(t.Context(), func(c lease.Change) error {
		kept = append(kept, c)
		return nil
	}))
	must(t, j.Close()) // what was mapped cannot be read any more
	s := state{}
	s.apply(kept)
	for _, c := range kept {
		clear(c.Value)
	}
	wantState(t, mustLead(t, place), s)
}

func TestLoadStops(t *testing.T) {
	j := mustLead(t, newPlace(newFile(t), defaultSizes))
	must(t, newHistory().next(t.Context(), j))
	t.Run("with the error of whoever is told", func(t *testing.T) {
		enough := errors.New("enough")
		if err := j.Load(t.Context(), func(lease.Change) error { return enough }); err != enough { //nolint:errorlint // as it is
			t.Errorf("Load: %v, want %v", err, enough)
		}
	})
	t.Run("when its context ends", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := j.Load(ctx, func(lease.Change) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("Load: %v, want %v", err, context.Canceled)
		}
	})
}

func TestAClosedJournalIsOfNoUse(t *testing.T) {
	path := newFile(t)
	j := mustLead(t, newPlace(path, defaultSizes))
	must(t, j.Held())
	must(t, j.Close())
	if err := j.Held(); err == nil {
		t.Error("a closed journal is held")
	}
	if err := j.Commit(t.Context(), group(1)); err == nil {
		t.Error("a closed journal commits")
	}
	if err := j.Load(t.Context(), func(lease.Change) error { return nil }); err == nil {
		t.Error("a closed journal loads")
	}
	must(t, j.Close())
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v %v, want one that only its owner reads", info, err)
	}
}
