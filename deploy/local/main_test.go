package local_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"example.com/fairlead/deploy/local"
	"example.com/fairlead/deploy/local/localtest"
)

// Environment of a test program that is told to run a stack instead of tests.
const (
	envOptions = "LOCAL_TEST_OPTIONS"
	envReady   = "LOCAL_TEST_READY"
)

func TestMain(m *testing.M) {
	if text := os.Getenv(envOptions); text != "" {
		fmt.Fprintln(os.Stderr, runStack(text))
		os.Exit(1)
	}
	os.Exit(localtest.Main(m))
}

// elsewhere is the environment that makes a test program run a stack and write
// the ready file once it is up.
func elsewhere(o local.Options, ready string) []string {
	o.Progress = nil
	text, err := json.Marshal(wireOptions{o.StateDir, o.BinDir, o.Ports, o.Node, o.NodeSubnet})
	if err != nil {
		panic(err)
	}
	return []string{envOptions + "=" + string(text), envReady + "=" + ready}
}

// wireOptions are the options that can be told to another process.
type wireOptions struct {
	StateDir, BinDir string
	Ports            local.Ports
	Node             bool
	NodeSubnet       int
}

// runStack runs a stack until it is killed.
func runStack(text string) error {
	var w wireOptions
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		return err
	}
	_, err := local.Start(context.Background(), local.Options{
		StateDir: w.StateDir, BinDir: w.BinDir, Ports: w.Ports, Node: w.Node, NodeSubnet: w.NodeSubnet,
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(os.Getenv(envReady), nil, 0o600); err != nil { // #nosec G703 -- a path of the test
		return err
	}
	select {}
}
