package main

import (
	"runtime"
	"testing"
)

func TestReservedPortsAreNotHandedOutAgain(t *testing.T) {
	given := map[int]bool{}
	for range 3 {
		ports, err := reservePorts(3)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range ports {
			if given[p] {
				t.Errorf("port %d was handed out twice", p)
			}
			given[p] = true
		}
		runtime.GC() // closes what nobody refers to
		runtime.GC()
	}
}
