// Package source renders what the sources of add-ons have.
package source

import "example.com/fairlead/activities/addon/kept"

// Rendered is a render, and what is to be known of it.
type Rendered struct {
	kept.Render
	// Secrets are values to be masked.
	Secrets [][]byte
	// Warning is for people. Partial says which APIs of the cluster are not known.
	Warning, Partial string
	// Known is the index of the known render that was taken as it is, -1 for none.
	Known int
}
