package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestTheNextWorkerCountsOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.log")
	begin := func(l *callLog, c call) call {
		t.Helper()
		c, err := l.begin(1, c)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	open := func() *callLog {
		t.Helper()
		l, err := openCallLog(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.file.Close() })
		return l
	}
	first := open()
	begin(first, call{Instance: "proxy-a", Who: "1.1", Method: methodCreate})
	c := begin(first, call{Instance: "proxy-a", Method: methodGet})
	c.Note = "what came of a call is no call"
	if err := first.tell(c); err != nil {
		t.Fatal(err)
	}
	second := open()
	got := []call{
		begin(second, call{Instance: "proxy-a", Method: methodGet}),
		begin(second, call{Instance: "proxy-a", Method: methodCreate}),
		begin(second, call{Instance: "proxy-b", Method: methodCreate, Who: "2.1"}),
	}
	want := []call{
		{Instance: "proxy-a", Who: "1.1", Method: methodGet, N: 1},
		{Instance: "proxy-a", Who: "1.1", Method: methodCreate, N: 1},
		{Instance: "proxy-b", Who: "2.1", Method: methodCreate, N: 0},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(call{}, "At", "Fault")); diff != "" {
		t.Errorf("calls of the second worker (-want +got):\n%s", diff)
	}
}

func TestALineThatIsBeingWrittenIsReadLater(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.log")
	const whole, half = `{"instance":"proxy-a","method":"Get"}` + "\n", `{"instance":"pro`
	if err := os.WriteFile(path, []byte(whole+half), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	calls, size, err := readCalls(f)
	if err != nil || len(calls) != 1 || size != int64(len(whole)) {
		t.Errorf("read %+v, %d bytes, %v", calls, size, err)
	}
}
