package proxy

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"

	"example.com/fairlead/temporal/historytest"
	"example.com/fairlead/temporal/wire"
)

// recordings were made by real servers and providers. `make record` writes new ones.
var recordings = historytest.Recordings{Dir: "../testdata/proxy", Register: func(w worker.WorkflowRegistry) {
	w.RegisterWorkflowWithOptions(Workflow, workflow.RegisterOptions{Name: wire.WorkflowProxy})
}}

func TestReplay(t *testing.T) { recordings.ReplayAll(t) }

// TestRecordingsHaveEveryWord: a state that was never recorded is one that a change may
// break unseen.
func TestRecordingsHaveEveryWord(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(recordings.Dir, fmt.Sprintf("v%d-*.json", Version)))
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing is recorded of version %d (%v): run make record", Version, err)
	}
	var all []byte
	for _, f := range files {
		h, err := client.HistoryFromJSON(open(t, f), client.HistoryJSONOptions{})
		if err != nil {
			t.Fatal(err)
		}
		data, err := proto.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	for kind, words := range statusWords(t) {
		for _, word := range words {
			if !bytes.Contains(all, []byte(`"`+kind+`":"`+word+`"`)) {
				t.Errorf("no recording has a status with %s %s", kind, word)
			}
		}
	}
}

func open(t *testing.T, file string) io.Reader {
	t.Helper()
	data, err := os.ReadFile(file) // #nosec G304 -- a recording
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(data)
}

// statusWords are the phases and reasons that temporal/wire declares.
func statusWords(t *testing.T) map[string][]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../temporal/wire/words.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	words := map[string][]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		value, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			return true
		}
		for prefix, kind := range map[string]string{"Phase": "phase", "Reason": "reason"} {
			if strings.HasPrefix(spec.Names[0].Name, prefix) {
				words[kind] = append(words[kind], strings.Trim(value.Value, `"`))
			}
		}
		return true
	})
	if len(words["phase"]) < 9 || len(words["reason"]) < 15 {
		t.Fatalf("only %v were found", words)
	}
	return words
}
