package addon

import (
	"time"

	"example.com/fairlead/temporal/wire"
)

// StepKind is what to do next.
type StepKind string

// The steps.
const (
	// Park: nothing, until a signal comes, or until Until if that is set.
	Park StepKind = "Park"
	// Preview looks at the source and the cluster.
	Preview StepKind = "Preview"
	// Begin a sync, in memory.
	Begin StepKind = "Begin"
	// Publish the status.
	Publish StepKind = "Publish"
	// Apply a part of the plan.
	Apply StepKind = "Apply"
	// Hook runs one hook.
	Hook StepKind = "Hook"
	// Tidy up after the hooks of an event.
	Tidy StepKind = "Tidy"
	// Stumble takes in, in memory, that the sync failed.
	Stumble StepKind = "Stumble"
	// Remove deletes the objects.
	Remove StepKind = "Remove"
	// Release takes the finalizer off the object.
	Release StepKind = "Release"
	// End the workflow: there is nothing left to keep.
	End StepKind = "End"
)

// Step is the next thing to do.
type Step struct {
	Kind StepKind
	// Until is when Park ends at the latest; zero for never.
	Until time.Time
	// Status to publish, and the render that it speaks of.
	Status wire.AddonStatus
	Render string
	// Ended is the sync that came to its end.
	Ended *wire.AddonSyncEnd
	// Done: there is nothing to do after this status.
	Done bool
	// Sync to begin.
	Sync *wire.AddonSync
	// Plan to apply, and which part of it.
	Plan, Part string
	Approved   bool
	// Hook to run, or the event to tidy up after.
	Hook   wire.AddonHook
	Number int
	Run    string
	// Message says why it failed.
	Message string
}
