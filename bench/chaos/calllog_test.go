package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
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
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(call{}, "At", "Fault", "Delay")); diff != "" {
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

func TestAFaultCountsOnceItWasMet(t *testing.T) {
	for name, tt := range map[string]struct {
		calls []call
		want  map[fault]int
	}{
		"no fault":              {[]call{{Method: methodGet}}, map[fault]int{}},
		"at once":               {[]call{{Fault: faultBusy}, {Fault: faultBusy, Wrong: "the ledger lacks it"}}, map[fault]int{faultBusy: 1}},
		"an attempt not landed": {[]call{{Fault: faultLandsLate}}, map[fault]int{}},
		"an attempt that landed": {[]call{{Fault: faultLandsLate}, {Fault: faultLandsLate, Unchecked: &crawl.InstanceRecord{}}, {Fault: faultLandsLate, Note: " (landed)"}},
			map[fault]int{faultLandsLate: 1}},
		"a halted instance": {[]call{{Method: methodGet}, {Method: methodGet, Fault: faultHalted, Note: " (started again)"}}, map[fault]int{faultHalted: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			o, _ := newTestObserver(t, nil)
			for _, c := range tt.calls {
				o.heard(c)
			}
			if diff := cmp.Diff(tt.want, o.faults); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}
