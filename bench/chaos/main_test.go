package main

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if code, played := playRole(os.Args); played {
		os.Exit(code)
	}
	os.Exit(m.Run())
}
