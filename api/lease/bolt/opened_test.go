package bolt

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Whoever has a file open that is not at its path any more cannot keep others from lending.
func TestAFileThatIsNotInItsPlaceIsNotHeld(t *testing.T) {
	for _, c := range []struct {
		name string
		take func(t *testing.T, path string)
		// left is what is found at the path.
		left func(*history) state
	}{
		{"moved away", func(t *testing.T, path string) { must(t, os.Rename(path, path+".old")) }, nothing},
		{"removed", func(t *testing.T, path string) { must(t, os.Remove(path)) }, nothing},
		{"replaced by a copy", func(t *testing.T, path string) {
			copied, err := os.ReadFile(path)
			must(t, err)
			must(t, os.Remove(path))
			must(t, os.WriteFile(path+".copy", copied, 0o600))
			must(t, os.Rename(path+".copy", path))
		}, func(h *history) state { return h.state }},
	} {
		taken := func(t *testing.T) (place *Place, j *journal, before *history) {
			place = newPlace(newFile(t), defaultSizes)
			j, before = mustOpen(t, place), newHistory()
			must(t, before.next(t.Context(), j))
			must(t, j.Held())
			c.take(t, place.path)
			return place, j, before
		}
		t.Run(c.name+" is found by the next commit", func(t *testing.T) {
			place, j, before := taken(t)
			another := mustLead(t, place)
			const what = "replaced by another one while it was open"
			for range 2 {
				if err := before.clone().next(t.Context(), j); err == nil || !strings.Contains(err.Error(), place.path+" was "+what) {
					t.Errorf("Commit: %v, want it to say that the file was %s", err, what)
				}
			}
			wantState(t, another, c.left(before))
		})
		t.Run(c.name+" is found by those who read", func(t *testing.T) {
			place, j, _ := taken(t)
			var err error
			eventually(t, "found", func() bool { err = j.Held(); return err != nil })
			if !strings.Contains(err.Error(), place.path) || !strings.Contains(err.Error(), "while it was open") {
				t.Errorf("Held: %v, want it to say what happened to %s", err, place.path)
			}
		})
	}
}

// bbolt would end the process, and this test, by reading what is not there.
func TestAFileThatIsCutShortIsNotWritten(t *testing.T) {
	for _, left := range []int64{0, 2 * 4096} {
		t.Run(fmt.Sprint("to ", left, " bytes"), func(t *testing.T) {
			j, h := mustOpen(t, newPlace(newFile(t), defaultSizes)), newHistory()
			for range 100 {
				must(t, h.next(t.Context(), j))
			}
			must(t, j.Held())
			must(t, os.Truncate(j.path, left))
			for what, err := range map[string]error{
				"Commit": h.next(t.Context(), j), "Held": j.Held(), "compaction": j.compaction().run(t.Context()),
			} {
				if err == nil || !strings.Contains(err.Error(), j.path+" was cut short while it was open") {
					t.Errorf("%s: %v, want it to say that the file was cut short", what, err)
				}
			}
		})
	}
}

func nothing(*history) state { return state{} }
