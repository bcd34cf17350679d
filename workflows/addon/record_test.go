package addon

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/internal/eventually"
	"example.com/fairlead/temporal/historytest"
	"example.com/fairlead/temporal/wire"
)

var record = flag.Bool("record", false, "record new histories for the replay test, on a real Temporal server")

func TestMain(m *testing.M) { os.Exit(localtest.Main(m)) }

// recordings were made by a real server. `make record` writes new ones.
var recordings = historytest.Recordings{Dir: "../testdata/addon", Register: func(w sdkworker.WorkflowRegistry) {
	w.RegisterWorkflowWithOptions(Workflow, workflow.RegisterOptions{Name: wire.WorkflowAddon})
}}

func TestReplay(t *testing.T) { recordings.ReplayAll(t) }

// TestRecordingsHaveEveryPhase: a state that was never recorded is one that a change may
// break unseen.
func TestRecordingsHaveEveryPhase(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(recordings.Dir, fmt.Sprintf("v%d-*.json", Version)))
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing is recorded of version %d (%v): run make record", Version, err)
	}
	var all strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(f) // #nosec G304 -- a recording
		if err != nil {
			t.Fatal(err)
		}
		h, err := client.HistoryFromJSON(strings.NewReader(string(data)), client.HistoryJSONOptions{})
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(h.String())
	}
	for _, phase := range []string{
		wire.AddonPending, wire.AddonSynced, wire.AddonOutOfSync, wire.AddonBlocked,
		wire.AddonError, wire.AddonSuspended, wire.AddonSyncing, wire.AddonUninstalling,
	} {
		if !strings.Contains(all.String(), `\"phase\":\"`+phase+`\"`) {
			t.Errorf("no recording has a status with phase %s", phase)
		}
	}
}

// TestRecord plays each tale on a real server, which must accept every command of it, and
// replays what the server recorded. With -record the histories are kept.
func TestRecord(t *testing.T) {
	c := localtest.TemporalClient(t, func(o *client.Options) { o.Identity = "recorder" })
	for name, tell := range tales {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlayer(t, c, name)
			tell(p)
			p.Keep(recordings, Version, *record)
		})
	}
}

// player plays one tale: a workflow on a real server, and the outside world in the hands of
// the tale.
type player struct {
	*outside
	*historytest.Player
}

func newPlayer(t *testing.T, c client.Client, name string) *player {
	p := &player{outside: newOutside(), Player: &historytest.Player{T: t, Client: c, Name: name}}
	for _, queue := range []string{name, wire.WaitsOf(name)} {
		w := sdkworker.New(c, queue, sdkworker.Options{})
		recordings.Register(w)
		p.register(w)
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
	}
	return p
}

func (p *player) start() {
	p.T.Helper()
	p.Start(wire.WorkflowAddon, Input{Addon: ref, Version: Version})
}

// change changes the world and, like the starter, tells the workflow.
func (p *player) change(how func(o *outside)) {
	p.T.Helper()
	p.mu.Lock()
	how(p.outside)
	p.claim.Generation++
	p.claim.Inputs = fmt.Sprintf("in%d", p.claim.Generation)
	p.mu.Unlock()
	p.Signal(wire.SignalChanged, nil)
}

// told waits for a phase of the newest inputs.
func (p *player) told(phase string) {
	p.T.Helper()
	p.sees("phase "+phase, func(o *outside) bool {
		return o.claim.Stored.Phase == phase && o.claim.Stored.ObservedInputs == o.claim.Inputs
	})
}

// sees waits until the world is as ok says.
func (p *player) sees(what string, ok func(o *outside) bool) {
	p.T.Helper()
	eventually.Sees(p.T, what, time.Minute, func() (bool, string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		return ok(p.outside), fmt.Sprintf("the status %+v, the calls %v", p.claim.Stored, p.calls)
	})
}
