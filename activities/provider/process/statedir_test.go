package process_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/process"
)

func TestAnInstanceStaysInTheStateDirectoryItWasMadeIn(t *testing.T) {
	b := newBackend(t)
	made, req := b.open(), b.request("a")
	inst := create(t, made, req)
	later := b.open(func(o *process.Options) { o.StateDir = filepath.Join(t.TempDir(), "other") })
	if diff := cmp.Diff(inst, get(t, later, req)); diff != "" {
		t.Errorf("after the state directory changed (-before +after):\n%s", diff)
	}
	if err := later.Delete(t.Context(), req.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := made.Get(t.Context(), req.ID); !errors.Is(err, provider.ErrNotFound) {
		t.Errorf("get of the deleted instance: %v", err)
	}
}

// TestAStateDirectoryThatIsAwayIsNotEmpty: whatever is at its path meanwhile proves
// nothing about the instances in it.
func TestAStateDirectoryThatIsAwayIsNotEmpty(t *testing.T) {
	for name, meanwhile := range map[string]func(t *testing.T, b *backend, dir string){
		"nothing":               func(*testing.T, *backend, string) {},
		"an empty directory":    func(t *testing.T, _ *backend, dir string) { must(t, os.Mkdir(dir, 0o700)) },
		"one that was checked":  func(t *testing.T, b *backend, _ string) { b.open().Check(t.Context()) },
		"a new state directory": func(t *testing.T, b *backend, dir string) { forget(t, dir); b.request("b") },
		"one with an instance": func(t *testing.T, b *backend, dir string) {
			forget(t, dir)
			create(t, b.open(), b.request("b"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBackend(t)
			dir, away := b.options.StateDir, b.options.StateDir+".away"
			p, req := b.open(), b.request("a")
			inst := create(t, p, req)
			must(t, os.Rename(dir, away))
			meanwhile(t, b, dir)
			elsewhere := b.open(func(o *process.Options) { o.StateDir = filepath.Join(t.TempDir(), "other") })
			for _, p := range []provider.Provider{p, b.open(), elsewhere} {
				_, getErr := p.Get(t.Context(), req.ID)
				_, createErr := p.Create(t.Context(), req)
				for what, err := range map[string]error{
					"get": getErr, "create": createErr, "delete": p.Delete(t.Context(), req.ID), "disown": p.Disown(t.Context(), req.ID),
				} {
					if !errors.Is(provider.Class(err), provider.ErrTransient) || !strings.Contains(err.Error(), dir) {
						t.Errorf("%s: %v", what, err)
					}
				}
			}
			b.endAll()
			must(t, os.RemoveAll(dir))
			must(t, os.Rename(away, dir))
			if diff := cmp.Diff(inst, get(t, p, req)); diff != "" {
				t.Errorf("after the directory came back (-before +after):\n%s", diff)
			}
		})
	}
}

// TestAListIsOfOnePlace: a directory that is new has nothing, which says nothing about
// the one that was at its path before.
func TestAListIsOfOnePlace(t *testing.T) {
	b := newBackend(t)
	old := b.request("a")
	create(t, b.open(), old)
	must(t, os.Rename(b.options.StateDir, b.options.StateDir+".away"))
	forget(t, b.options.StateDir)
	l, err := b.open().List(t.Context())
	if err != nil || len(l.Instances)+len(l.Incomplete) > 0 {
		t.Errorf("the list is %+v, %v", l, err)
	}
	if now := b.request("a"); now.Place == old.Place {
		t.Errorf("it is the same place, %s", now.Place)
	}
	must(t, os.RemoveAll(b.options.StateDir))
	must(t, os.Rename(b.options.StateDir+".away", b.options.StateDir))
}

// TestInstancesThatAreGoneForGoodCanBeForgotten as the error says.
func TestInstancesThatAreGoneForGoodCanBeForgotten(t *testing.T) {
	b := newBackend(t)
	p, req := b.open(), b.request("a")
	create(t, p, req)
	b.kill()
	must(t, os.RemoveAll(b.options.StateDir))
	_, identity, _ := strings.Cut(req.Place, "#")
	must(t, os.Mkdir(b.options.StateDir, 0o700))
	must(t, os.WriteFile(filepath.Join(b.options.StateDir, ".identity"), []byte(identity+"\n"), 0o600))
	if _, err := p.Get(t.Context(), req.ID); !errors.Is(err, provider.ErrNotFound) {
		t.Errorf("get: %v", err)
	}
}

// TestNoOtherPlaceIsOfferedWhileTheDirectoryIsAway: the instances in it would be taken to
// live elsewhere, and all be replaced.
func TestNoOtherPlaceIsOfferedWhileTheDirectoryIsAway(t *testing.T) {
	b := newBackend(t)
	dir, away := b.options.StateDir, b.options.StateDir+".away"
	place := b.request("a").Place
	must(t, os.Rename(dir, away))
	for name, meanwhile := range map[string]func(){"nothing": func() {}, "an empty directory": func() { must(t, os.Mkdir(dir, 0o700)) }} {
		meanwhile()
		places, err := b.open().Places(t.Context(), "", nil)
		if !errors.Is(provider.Class(err), provider.ErrTransient) || !strings.Contains(err.Error(), dir) {
			t.Errorf("with %s at its path, the places are %v, error %v", name, places, err)
		}
		if checks := b.open().Check(t.Context()); checks[0].Ready {
			t.Errorf("with %s at its path, the check says %+v", name, checks)
		}
	}
	must(t, os.RemoveAll(dir))
	must(t, os.Rename(away, dir))
	if got := b.request("a").Place; got != place {
		t.Errorf("after it came back, the place is %s, was %s", got, place)
	}
	must(t, os.RemoveAll(dir))
	forget(t, dir)
	if got := b.request("a").Place; got == place || got == "" {
		t.Errorf("after it was given up, the place is %q, was %s", got, place)
	}
}

// TestWhatIsLeftOfADirectoryCanBeEnded: whoever removes a state directory need not know
// that somebody emptied it before.
func TestWhatIsLeftOfADirectoryCanBeEnded(t *testing.T) {
	b := newBackend(t)
	b.request("a") // has its directory made
	must(t, os.RemoveAll(b.options.StateDir))
	must(t, os.Mkdir(b.options.StateDir, 0o700))
	if err := b.open().DeleteAll(t.Context()); err != nil {
		t.Error(err)
	}
	must(t, os.RemoveAll(b.options.StateDir))
	forget(t, b.options.StateDir)
}

// forget gives up what a state directory held.
func forget(t *testing.T, dir string) {
	t.Helper()
	must(t, os.Remove(dir+".identity"))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
