package addoncli_test

import (
	"strings"
	"testing"
	"time"

	addons "example.com/fairlead/api/addons/v1alpha1"
)

func TestAnEditIsLookedAtFirst(t *testing.T) {
	edited := func(t *testing.T, then ...func(*addons.Addon)) *shell {
		s := newShell(t, addon("demo", unseen))
		s.plan, s.then, s.now = somePlan(), then, true
		return s
	}
	before := becomes(addons.PhaseSynced, "of before", unseen)
	t.Run("a diff is of what was edited", func(t *testing.T) {
		s := edited(t, before, before, waiting)
		if got := s.prints("diff", "demo"); !strings.Contains(got, "plan "+planHash) || s.err.Len() > 0 {
			t.Errorf("it prints %q, and tells %q", got, &s.err)
		}
	})
	t.Run("a sync approves the plan of what was edited", func(t *testing.T) {
		s := edited(t, before, before, waiting)
		if got := s.prints("sync", "demo"); got != approvedSays {
			t.Errorf("it prints %q", got)
		}
	})
	t.Run("what takes too long is told", func(t *testing.T) {
		s := edited(t)
		s.look = 10 * time.Millisecond
		if got := s.prints("diff", "demo"); got != "nothing waits: add-on demo is Synced: all is well\n" || !strings.Contains(s.err.String(), "add-on demo was edited, and this is from before") {
			t.Errorf("it prints %q, and tells %q", got, &s.err)
		}
	})
}
