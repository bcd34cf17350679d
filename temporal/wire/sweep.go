package wire

// Ids of the Schedules; Temporal appends the time to those of their workflows.
const (
	// SweepPrefix begins the id of every Schedule that the starter keeps.
	SweepPrefix = "sweep/"
	// SweepObjectsID is the Schedule of WorkflowObjectSweep. No provider has the
	// name: the providers file refuses it.
	SweepObjectsID = SweepPrefix + "objects"
)

// SweepID is the Schedule of WorkflowSweep for a provider.
func SweepID(provider string) string { return SweepPrefix + provider }

// SweepInput is the input of WorkflowSweep and ActivitySweep.
type SweepInput struct {
	Provider string `json:"provider"`
}

// Suspect is an instance that no object was found for. Who it belonged to is
// written on the instance itself.
type Suspect struct {
	Place       string `json:"place,omitempty"`
	Name        string `json:"name"`
	Incarnation int64  `json:"incarnation"`
	UID         string `json:"uid"`
}

// Bounds of a list of suspects, so that the result of a sweep stays far below the
// limit of an event.
const (
	maxSuspects     = 200
	maxSuspectBytes = 24 << 10
	// suspectFrame is more than the JSON around the texts of one suspect.
	suspectFrame = 80
)

// BoundSuspects cuts a list to size. The order decides who stays, so it should be
// the same in each sweep.
func BoundSuspects(all []Suspect) []Suspect {
	size := 0
	for i, s := range all {
		size += suspectFrame + len(s.Place) + len(s.Name) + len(s.UID)
		if i == maxSuspects || size > maxSuspectBytes {
			return all[:i]
		}
	}
	return all
}

// Sweep is the result of ActivitySweep: what one look at a provider found and did.
type Sweep struct {
	Instances int `json:"instances"`
	Proxies   int `json:"proxies"`
	// Woken is how many Proxies were told that their instance differs.
	Woken int `json:"woken,omitempty"`
	// Aged is how many Proxies were asked to replace an instance that is too old.
	Aged int `json:"aged,omitempty"`
	// Partial: not all of the provider answered. Such a look neither makes nor
	// confirms a suspect.
	Partial bool `json:"partial,omitempty"`
	// Problem is what went wrong beside the look.
	Problem  string    `json:"problem,omitempty"`
	Suspects []Suspect `json:"suspects,omitempty"`
	// KillBudget is how many confirmed orphans may be deleted now.
	KillBudget int `json:"killBudget,omitempty"`
}

// SweepResult is the result of WorkflowSweep. The next run begins with its
// suspects; the rest is for people.
type SweepResult struct {
	Sweep
	// Orphans is how many suspects this look confirmed.
	Orphans int    `json:"orphans,omitempty"`
	Kills   []Kill `json:"kills,omitempty"`
}

// Kill is what became of one confirmed orphan.
type Kill struct {
	Name    string `json:"name"`
	Outcome string `json:"outcome"`
}

// OrphanInput is the input of ActivityDeleteOrphan.
type OrphanInput struct {
	Provider string  `json:"provider"`
	Suspect  Suspect `json:"suspect"`
}

// OrphanOutcome is the result of ActivityDeleteOrphan.
type OrphanOutcome struct {
	Deleted bool `json:"deleted"`
	// Reason why it was left alone.
	Reason string `json:"reason,omitempty"`
}

// ObjectSweepResult is the result of WorkflowObjectSweep and ActivitySweepObjects.
type ObjectSweepResult struct {
	Objects int `json:"objects"`
	// Started is how many objects had no workflow.
	Started int `json:"started,omitempty"`
	// Pruned names the providers that left the file and whose ProviderHealth was
	// removed.
	Pruned []string `json:"pruned,omitempty"`
}
