// Package addon is the workflow of one Addon object.
package addon

import (
	"go.temporal.io/sdk/workflow"

	"example.com/fairlead/temporal/wire"
)

// Version of the workflow.
const Version = 1

// State is what one run hands on to the next.
type State struct{}

// Input of the workflow.
type Input struct {
	Addon   wire.AddonRef `json:"addon"`
	Version int           `json:"version"`
	State   *State        `json:"state,omitempty"`
	Dirty   bool          `json:"dirty,omitempty"`
}

// Workflow keeps one Addon.
func Workflow(workflow.Context, Input) error { return nil }
