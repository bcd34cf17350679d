package life_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"example.com/fairlead/activities/provider/process/life"
)

// liveEnv makes this test program a process that begins a life at the named file.
const liveEnv = "LIFE_TEST_FILE"

func TestMain(m *testing.M) {
	if path := os.Getenv(liveEnv); path != "" {
		os.Exit(live(path))
	}
	os.Exit(m.Run())
}

// live says how far it came after each line that it reads.
func live(path string) int {
	l, err := life.Begin(path)
	if err != nil {
		say(err.Error())
		return 3
	}
	defer func() { _ = l.End() }()
	say("alive")
	in := bufio.NewScanner(os.Stdin)
	in.Scan()
	if err := l.Listening(); err != nil {
		say(err.Error())
		return 4
	}
	say("listening")
	in.Scan()
	return 0
}

func say(line string) { _, _ = fmt.Fprintln(os.Stdout, line) } // a test that hears nothing fails

// process is a living test program.
type process struct {
	*exec.Cmd
	in  io.Writer
	out *bufio.Scanner
}

func start(t *testing.T, path string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), liveEnv+"="+path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &process{cmd, in, bufio.NewScanner(out)}
}

func (p *process) says(t *testing.T) string {
	t.Helper()
	if !p.out.Scan() {
		t.Fatalf("the process ended: %v", p.out.Err())
	}
	return p.out.Text()
}

func lockFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "life")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func look(t *testing.T, path string) life.Signs {
	t.Helper()
	s, err := life.Look(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSignsFollowTheProcess(t *testing.T) {
	path := lockFile(t)
	if s := look(t, path); s != (life.Signs{}) {
		t.Errorf("before any process the signs are %+v", s)
	}
	p := start(t, path)
	p.says(t)
	boot, err := life.BootID()
	if err != nil {
		t.Fatal(err)
	}
	s := look(t, path)
	if s.PID != p.Process.Pid || s.Listening || s.BootID != boot || s.Started.IsZero() {
		t.Errorf("of a process that does not listen yet the signs are %+v", s)
	}
	if _, err := fmt.Fprintln(p.in); err != nil {
		t.Fatal(err)
	}
	p.says(t)
	if s := look(t, path); s.PID != p.Process.Pid || !s.Listening {
		t.Errorf("of a process that listens the signs are %+v", s)
	}
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = p.Process.Wait()
	if s := look(t, path); s.PID != 0 || s.Listening || s.BootID != boot {
		t.Errorf("of a killed process the signs are %+v", s)
	}
}

func TestOnlyOneProcessLives(t *testing.T) {
	path := lockFile(t)
	first := start(t, path)
	first.says(t)
	if got := start(t, path).says(t); got == "alive" {
		t.Error("a second process lives beside the first")
	}
	if _, err := life.Seize(path); !errors.Is(err, life.ErrAlive) {
		t.Errorf("seizing the file of a living process gave %v", err)
	}
}

func TestSeizedFileLetsNobodyBegin(t *testing.T) {
	path := lockFile(t)
	release, err := life.Seize(path)
	if err != nil {
		t.Fatal(err)
	}
	if s := look(t, path); s.PID != 0 { // must not give the lock away either
		t.Errorf("a seized file shows process %d", s.PID)
	}
	if got := start(t, path).says(t); got == "alive" {
		t.Error("a process lives at a seized file")
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if got := start(t, path).says(t); got != "alive" {
		t.Errorf("after the release a process says %q", got)
	}
}

func TestNoFileNoLife(t *testing.T) {
	path := lockFile(t)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := start(t, path).says(t); got == "alive" {
		t.Error("a process lives without its file")
	}
	if _, err := life.Look(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("looking at no file gave %v", err)
	}
}
