package proxy

import (
	"time"

	"example.com/fairlead/temporal/wire"
)

// StepKind is what to do next.
type StepKind string

// The steps.
const (
	// Park: nothing, until a signal comes.
	Park StepKind = "Park"
	// Enter a new or renewed entry into the ledger, in memory.
	Enter StepKind = "Enter"
	// Publish the status.
	Publish StepKind = "Publish"
	// Create the instance of Record, whose entry is published.
	Create StepKind = "Create"
	// Get looks at the instance once.
	Get StepKind = "Get"
	// Settle waits until the instance is up, or down, or gone.
	Settle StepKind = "Settle"
	// Delete asks the provider to delete the instance.
	Delete StepKind = "Delete"
	// Vanish waits until the provider confirms that the instance is gone.
	Vanish StepKind = "Vanish"
	// Drain waits until the last lease of the instance ended, or Until.
	Drain StepKind = "Drain"
	// Rest does nothing until Until.
	Rest StepKind = "Rest"
	// Count asks the api how often the address was banned.
	Count StepKind = "Count"
	// Condemn writes on the object that the address was banned, as Value says.
	Condemn StepKind = "Condemn"
	// Disown takes our marks off an instance that is abandoned.
	Disown StepKind = "Disown"
	// Release takes the finalizer off the object.
	Release StepKind = "Release"
	// End the workflow: there is nothing left to keep.
	End StepKind = "End"
)

// Step is the next thing to do.
type Step struct {
	Kind StepKind
	// Entry that the steps on an instance are about.
	Entry wire.Entry
	// Until is when Drain and Rest end at the latest.
	Until time.Time
	// Quiet steps were refused before: they wait out the trouble in one activity
	// that a signal may pre-empt.
	Quiet bool
	// Value of the replace annotation to write.
	Value string
	// Status to publish.
	Status wire.ProxyStatus
}
