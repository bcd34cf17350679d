//go:build race

package main

// The program under test looks for data races if its tests do; one that found any
// ends with an error.
func init() { buildFlags = append(buildFlags, "-race") }
