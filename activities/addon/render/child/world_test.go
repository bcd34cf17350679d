package child_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/fairlead/activities/addon/render"
	"example.com/fairlead/activities/addon/render/child"
	"example.com/fairlead/internal/eventually"
)

// asChild makes the test program a child.
const asChild = "render-child"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == asChild {
		if err := child.Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// newRenderer has this program for children, which are gone after the test.
func newRenderer(t *testing.T, change func(*child.Renderer)) *child.Renderer {
	t.Helper()
	r := &child.Renderer{Command: []string{os.Args[0], asChild}}
	if change != nil {
		change(r)
	}
	t.Cleanup(func() {
		r.Close()
		eventually.Until(t, "no child is left", func() bool { return len(children(t)) == 0 })
	})
	return r
}

// children are the processes that this one has started, dead ones that nobody waited for too.
func children(t *testing.T) []int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		_, fields, _ := strings.Cut(string(text), ") ")
		if words := strings.Fields(fields); len(words) > 1 && words[1] == strconv.Itoa(os.Getpid()) {
			pid, err := strconv.Atoi(path.Base(path.Dir(file)))
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

// onlyChild waits for the one child there is.
func onlyChild(t *testing.T) int {
	t.Helper()
	var pids []int
	eventually.Until(t, "there is one child", func() bool {
		pids = children(t)
		return len(pids) == 1
	})
	return pids[0]
}

// openFiles is how many files this process has open.
func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// request for a release, as an add-on has it.
func request(t *testing.T, change func(*render.Request)) render.Request {
	t.Helper()
	caps, err := render.Offline("", nil)
	if err != nil {
		t.Fatal(err)
	}
	req := render.Request{Release: "shop", Namespace: "trade", Capabilities: caps, Hash: hash}
	if change != nil {
		change(&req)
	}
	return req
}

// hash is what tests tell contents apart by.
func hash(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// chartOf is a packaged chart with one template.
func chartOf(t *testing.T, template string) []byte {
	t.Helper()
	return pack(t, map[string]string{"c/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n", "c/templates/a.yaml": template})
}

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n"

// testChart is a chart of the tests of package render, packaged.
func testChart(t *testing.T, name string) []byte {
	t.Helper()
	files := map[string]string{}
	dir := os.DirFS(filepath.Join("..", "testdata", "charts", name))
	err := fs.WalkDir(dir, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(dir, file)
		files[path.Join(name, file)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pack(t, files)
}

func pack(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	archive := tar.NewWriter(zipped)
	for name, text := range files {
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text)), ModTime: time.Unix(0, 0)}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
