package child_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/deploy/local/child"
	"example.com/fairlead/internal/eventually"
)

const (
	settleTimeout = 10 * time.Second

	// envDir makes the test program a parent: it starts a child in that
	// directory and waits to be killed.
	envDir = "CHILD_TEST_DIR"
	// envScript is the shell script of that child.
	envScript = "CHILD_TEST_SCRIPT"
)

// stubborn ignores SIGTERM; it says when it does.
const stubborn = `trap '' TERM; echo deaf; while :; do sleep 0.05; done`

func TestMain(m *testing.M) {
	if dir := os.Getenv(envDir); dir != "" {
		fmt.Fprintln(os.Stderr, parent(dir, os.Getenv(envScript)))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// parent starts a child and waits to be killed.
func parent(dir, script string) error {
	g, err := child.NewGroup(dir)
	if err != nil {
		return err
	}
	if _, err := g.Start(shell("orphan", script)); err != nil {
		return err
	}
	select {}
}

func shell(name, script string) child.Spec {
	return child.Spec{Name: name, Command: []string{"sh", "-c", script}}
}

func newGroup(t *testing.T, dir string) *child.Group {
	t.Helper()
	g, err := child.NewGroup(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Stop(context.Background()) }) // tests that care stop it themselves
	return g
}

func start(t *testing.T, g *child.Group, spec child.Spec) *child.Process {
	t.Helper()
	p, err := g.Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestUnexpectedEndFailsTheGroupWithTheLastLines(t *testing.T) {
	dir := t.TempDir()
	g := newGroup(t, dir)
	start(t, g, shell("steady", "exec sleep 1000"))
	start(t, g, shell("frail", "for i in 1 2 3 4 5 6 7 8 9; do echo line $i; done; echo ouch >&2; exit 3"))
	wait(t, g.Done())
	var exit *child.ExitError
	if !errors.As(g.Err(), &exit) {
		t.Fatalf("the group failed with %v", g.Err())
	}
	exit.Cause = nil
	want := &child.ExitError{
		Name:    "frail",
		LogFile: filepath.Join(dir, "log", "frail.log"),
		Tail:    []string{"line 3", "line 4", "line 5", "line 6", "line 7", "line 8", "line 9", "ouch"},
	}
	if diff := cmp.Diff(want, exit); diff != "" {
		t.Errorf("failure (-want +got):\n%s", diff)
	}
}

func TestEndQuotesWhatAPersonReads(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"JSON of etcd", `echo '{"level":"fatal","ts":"2026","caller":"main.go:1","msg":"no disk","error":"full"}'`, "fatal: no disk: full"},
		{"JSON without an error", `echo '{"time":"2026","level":"INFO","msg":"up","port":1}'`, "info: up"},
		{"JSON of another kind", `echo '{"kind":"Event"}'`, `{"kind":"Event"}`},
		{"text", `echo 'E1130 main.go:1] no disk'`, "E1130 main.go:1] no disk"},
		{"after more than is read", `printf '{"level":"info","msg":"%020000d"}\nlast\n' 0`, "last"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := newGroup(t, t.TempDir())
			p := start(t, g, shell("frail", tt.script))
			wait(t, p.Done())
			if diff := cmp.Diff([]string{tt.want}, p.Exit().Tail); diff != "" {
				t.Errorf("last lines (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFailedGroupEndsAllAtOnceWithLittleGrace(t *testing.T) {
	dir := t.TempDir()
	g := newGroup(t, dir)
	for _, name := range []string{"first", "second", "third"} {
		start(t, g, shell(name, stubborn))
		waitForLog(t, dir, name, "deaf")
	}
	start(t, g, shell("frail", "exit 3"))
	wait(t, g.Done())
	began := time.Now()
	if err := g.Stop(t.Context()); err != nil {
		t.Errorf("stop says %v, but only that a child failed is news", err)
	}
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("the end took %s", took)
	}
}

func TestStopEndsTheLastStartedFirst(t *testing.T) {
	dir := t.TempDir()
	g := newGroup(t, dir)
	order := filepath.Join(dir, "order")
	for _, name := range []string{"first", "second", "third"} {
		script := `trap 'echo ` + name + ` >> ` + order + `; exit' TERM; echo up; while :; do sleep 0.02; done`
		start(t, g, shell(name, script))
		waitForLog(t, dir, name, "up")
	}
	if err := g.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(order) // #nosec G304 -- a path of the test
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("third\nsecond\nfirst\n", string(got)); diff != "" {
		t.Errorf("order of ends (-want +got):\n%s", diff)
	}
	if g.Err() != nil {
		t.Errorf("a wanted end is reported as failure: %v", g.Err())
	}
}

func TestStubbornChildIsKilledAfterItsGrace(t *testing.T) {
	dir := t.TempDir()
	g := newGroup(t, dir)
	spec := shell("stubborn", stubborn)
	spec.Grace = 200 * time.Millisecond
	p := start(t, g, spec)
	waitForLog(t, dir, "stubborn", "deaf")
	if err := g.Stop(t.Context()); err == nil || !strings.Contains(err.Error(), "stubborn") {
		t.Errorf("stop says %v, want that it had to kill", err)
	}
	if alive(p.PID()) {
		t.Error("it is still alive")
	}
}

func TestChildOutlivesTheThreadThatAskedForIt(t *testing.T) {
	g := newGroup(t, t.TempDir())
	asked := make(chan *child.Process)
	go func() {
		// A thread that is locked ends with its goroutine; SIGTERM must not follow.
		runtime.LockOSThread()
		p, err := g.Start(shell("steady", "exec sleep 1000"))
		if err != nil {
			t.Error(err)
		}
		asked <- p
	}()
	p := <-asked
	select {
	case <-p.Done():
		t.Fatal("the child ended with the thread")
	case <-time.After(300 * time.Millisecond): // nothing to poll for: it must not happen
	}
}

func TestChildEndsWithItsKilledParent(t *testing.T) {
	pid := killParent(t, t.TempDir(), "echo up; exec sleep 1000", "up")
	eventually.Until(t, "it ends", func() bool { return !alive(pid) })
}

func TestLeftoverThatIgnoredTheEndOfItsParentIsEnded(t *testing.T) {
	dir := t.TempDir()
	pid := killParent(t, dir, stubborn, "deaf")
	if !alive(pid) {
		t.Fatal("the leftover is gone already; the test has nothing to show")
	}
	if err := newGroup(t, dir).EndLeftovers(t.Context()); err != nil {
		t.Fatal(err)
	}
	if alive(pid) {
		t.Error("the leftover is still alive")
	}
}

func TestRecycledPIDIsNotALeftover(t *testing.T) {
	dir := t.TempDir()
	g := newGroup(t, dir)
	bystander := exec.Command("sleep", "1000")
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = bystander.Process.Kill(), bystander.Wait() }()
	record := `{"pid":` + strconv.Itoa(bystander.Process.Pid) + `,"started":"1","boot":"another"}`
	if err := os.WriteFile(filepath.Join(dir, "run", "etcd.json"), []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := g.EndLeftovers(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !alive(bystander.Process.Pid) {
		t.Error("a process that only has the same pid was ended")
	}
}

func TestMissingProgramIsNamed(t *testing.T) {
	_, err := newGroup(t, t.TempDir()).Start(child.Spec{Name: "etcd", Command: []string{"/no/such/etcd"}})
	if err == nil || !strings.Contains(err.Error(), "start etcd: fork/exec /no/such/etcd") {
		t.Errorf("start gave %v", err)
	}
}

// killParent starts a child in a process of its own, waits for a line of the
// child's log, kills that process and gives the child's pid.
func killParent(t *testing.T, dir, script, line string) int {
	t.Helper()
	cmd := exec.Command(os.Args[0]) // #nosec G204 G702 -- this very program
	cmd.Env = append(os.Environ(), envDir+"="+dir, envScript+"="+script)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitForLog(t, dir, "orphan", line)
	var pid int
	eventually.Until(t, "the child is recorded", func() bool {
		data, err := os.ReadFile(filepath.Join(dir, "run", "orphan.json")) // #nosec G304 -- a path of the test
		if err != nil {
			return false
		}
		text, _, _ := strings.Cut(strings.TrimPrefix(string(data), `{"pid":`), ",")
		pid, err = strconv.Atoi(text)
		return err == nil
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the kill is its error
	t.Cleanup(func() { _ = syscall.Kill(-pid, syscall.SIGKILL) })
	return pid
}

// alive says whether a process runs; a zombie does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}

func waitForLog(t *testing.T, dir, name, line string) {
	t.Helper()
	eventually.Until(t, name+" says "+line, func() bool {
		data, err := os.ReadFile(filepath.Join(dir, "log", name+".log")) // #nosec G304 -- a path of the test
		return err == nil && strings.Contains(string(data), line)
	})
}

func wait(t *testing.T, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(settleTimeout):
		t.Fatal("it did not happen in time")
	}
}
