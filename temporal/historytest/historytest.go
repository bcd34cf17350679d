// Package historytest reads the histories of workflows from a server, keeps them as
// files, and replays them.
package historytest

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/encoding/protojson"
)

// Read gives the whole history of a run, as far as it is by now.
func Read(ctx context.Context, c client.Client, id, run string) (*historypb.History, error) {
	events := c.GetWorkflowHistory(ctx, id, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	history := &historypb.History{}
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return nil, fmt.Errorf("read run %s of %s: %w", run, id, err)
		}
		history.Events = append(history.Events, e)
	}
	return history, nil
}

// Recordings are kept histories of some workflows.
type Recordings struct {
	// Dir has a JSON file for each.
	Dir string
	// Register registers the workflows as a worker does.
	Register func(worker.WorkflowRegistry)
}

// Replay says whether the workflows of today would have made this history.
func (r Recordings) Replay(h *historypb.History) error {
	replayer := worker.NewWorkflowReplayer()
	r.Register(replayer)
	return replayer.ReplayWorkflowHistory(log.NewStructuredLogger(slog.New(slog.DiscardHandler)), h)
}

// Keep writes a history.
func (r Recordings) Keep(name string, h *historypb.History) error {
	data, err := protojson.Marshal(h)
	if err != nil {
		return fmt.Errorf("encode history %s: %w", name, err)
	}
	return os.WriteFile(filepath.Join(r.Dir, name+".json"), data, 0o600)
}

// ReplayAll replays all that are kept: a change of a workflow must not break what is
// under way.
func (r Recordings) ReplayAll(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(r.Dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded histories in %s (%v): run make record", r.Dir, err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			replayer := worker.NewWorkflowReplayer()
			r.Register(replayer)
			if err := replayer.ReplayWorkflowHistoryFromJSONFile(nil, f); err != nil {
				t.Error(err)
			}
		})
	}
}
