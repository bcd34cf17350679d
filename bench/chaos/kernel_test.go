package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	signs "example.com/fairlead/activities/provider/process/life"
)

func TestParseLocks(t *testing.T) {
	const text = `1: POSIX  ADVISORY  WRITE 100 fe:00:10 0 1
2: POSIX  ADVISORY  WRITE 200 fe:00:20 0 0
3: OFDLCK ADVISORY  WRITE -1 fe:00:30 0 0
4: POSIX  ADVISORY  WRITE 300 fe:00:40 0 0
4: -> POSIX  ADVISORY  WRITE 400 fe:00:40 0 0
5: FLOCK  ADVISORY  WRITE 500 00:1a:1 0 EOF
6: POSIX  ADVISORY  WRITE 600 fe:00:50 1073741826 1073742335
7: POSIX  ADVISORY  WRITE 300 fe:00:40 1 1
`
	want := map[int]bool{100: true, 200: false, 300: true}
	if diff := cmp.Diff(want, parseLocks([]byte(text))); diff != "" {
		t.Errorf("who lives, and listens (-want +got):\n%s", diff)
	}
}

// place puts the directory of an instance in place.
func place(t *testing.T, stateDir string, i instance) {
	t.Helper()
	dir := filepath.Join(stateDir, i.name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	record := fmt.Sprintf(`{"owner":{"Namespace":%q,"Name":%q,"UID":%q},"incarnation":%d,"lifeFile":%q}`, i.namespace, i.object, i.uid, i.incarnation, i.lifeFile)
	for path, content := range map[string]string{"instance.json": record, i.lifeFile: "", "../.identity": "here\n"} {
		if err := os.WriteFile(filepath.Join(dir, path), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReadInstances(t *testing.T) {
	dir := t.TempDir()
	want := instance{provider: "red", name: "proxy-a", dir: filepath.Join(dir, "proxy-a"), namespace: "chaos", object: "c-1", uid: "u", incarnation: 3, lifeFile: "life-x", place: dir + "#here"}
	place(t, dir, want)
	place(t, dir, instance{name: ".gone-proxy-b", lifeFile: "life-y"})
	got, err := readInstances("red", dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]instance{want}, got, cmp.AllowUnexported(instance{})); diff != "" {
		t.Errorf("instances (-want +got):\n%s", diff)
	}
	if !want.still() {
		t.Error("an instance that nobody touched is not there any more")
	}
	other := want
	other.lifeFile = "life-z"
	place(t, dir, other)
	if want.still() {
		t.Error("another instance of the same name is taken for the first one")
	}
}

func TestReadProcesses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "proxy-a")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	lifeFile := filepath.Join(dir, "life-x")
	if err := os.WriteFile(lifeFile, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	owner := os.Getpid()
	cmd := exec.Command(os.Args[0], roleProxy, strconv.Itoa(owner), "--listen="+net.JoinHostPort("127.0.0.1", "0"), "--lock-file="+lifeFile)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := func(owner int) []proxyProcess {
		t.Helper()
		all, err := readProcesses(owner)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	want := []proxyProcess{{pid: cmd.Process.Pid, lifeFile: lifeFile, listening: true}}
	eventually(t, "the proxy listens", func() bool { return cmp.Equal(want, read(owner), cmp.AllowUnexported(proxyProcess{})) })
	if !want[0].forgetBoot() {
		t.Error("the boot in which it began cannot be forgotten")
	}
	if others := read(owner + 1); len(others) > 0 {
		t.Errorf("proxies of another run are taken for ours: %+v", others)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the kill is its error
	boot, err := signs.BootID()
	if err != nil {
		t.Fatal(err)
	}
	if s, err := signs.Look(lifeFile); err != nil || s.PID != 0 || s.BootID == "" || s.BootID == boot {
		t.Errorf("a process that went with its machine left the signs %+v, %v", s, err)
	}
	eventually(t, "the proxy is gone", func() bool { return len(read(owner)) == 0 })
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never happened: %s", what)
		}
	}
}
