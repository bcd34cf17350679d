package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"example.com/fairlead/deploy/local/localtest"
)

// program is the fairlead binary under test, which is built with buildFlags.
var (
	program    string
	buildFlags []string
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "fairlead-bin-")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "fairlead")
	build := exec.Command("go", append([]string{"build", "-o", program}, append(buildFlags, ".")...)...) // #nosec G204 -- flags of the tests
	if out, err := build.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("build fairlead: %v\n%s", err, out))
	}
	code := localtest.Main(m)
	_ = os.RemoveAll(dir)
	os.Exit(code)
}
