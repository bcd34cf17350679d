// Package wire names and types everything that reaches a workflow history:
// workflow ids, task queues, signals, activities, search attributes, payloads and
// failure types. A change here changes histories.
package wire

import "go.temporal.io/sdk/temporal"

// QueueMain is the task queue of workflows and of activities on objects.
const QueueMain = "fairlead"

const providerQueuePrefix = "fairlead-provider-"

// ProviderQueue is the task queue of the activities of one provider.
func ProviderQueue(provider string) string { return providerQueuePrefix + provider }

// Workflow types.
const (
	// WorkflowProxy keeps one Proxy.
	WorkflowProxy = "Proxy"
	// WorkflowSweep looks at one provider once.
	WorkflowSweep = "Sweep"
	// WorkflowObjectSweep looks once for objects without a workflow.
	WorkflowObjectSweep = "ObjectSweep"
)

// ProxyID is the workflow id of a Proxy.
func ProxyID(ref ProxyRef) string {
	return "proxy/" + ref.Namespace + "/" + ref.Name + "/" + ref.UID
}

// Signals. All but health are wake-ups without data.
const (
	SignalChanged  = "changed"
	SignalObserved = "observed"
	SignalHealth   = "health"
	SignalLease    = "lease"
)

// UpdateReplace asks a Proxy workflow for a new instance.
const UpdateReplace = "replace"

// Activities, as the Temporal UI lists them.
const (
	ActivityClaim   = "ClaimProxy"
	ActivityPublish = "PublishStatus"
	ActivityRelease = "ReleaseProxy"

	ActivityCreate   = "CreateInstance"
	ActivityGet      = "GetInstance"
	ActivityDelete   = "DeleteInstance"
	ActivitySettle   = "AwaitInstance"
	ActivityVanished = "AwaitInstanceGone"

	ActivityReplace = "AskForReplacement"
	ActivityDrained = "AwaitDrained"
	ActivityBans    = "CountBans"
	ActivityDisown  = "DisownInstance"

	ActivitySweep        = "SweepProvider"
	ActivityDeleteOrphan = "DeleteOrphan"
	ActivitySweepObjects = "SweepObjects"
)

// MemoTitle is the memo key of a workflow's title.
const MemoTitle = "title"

// Search attributes.
var (
	KeyProxyPhase    = temporal.NewSearchAttributeKeyKeyword("ProxyPhase")
	KeyAddonPhase    = temporal.NewSearchAttributeKeyKeyword("AddonPhase")
	KeyProvider      = temporal.NewSearchAttributeKeyKeyword("Provider")
	KeyKubeNamespace = temporal.NewSearchAttributeKeyKeyword("KubeNamespace")
	KeyKubeName      = temporal.NewSearchAttributeKeyKeyword("KubeName")
	KeyReason        = temporal.NewSearchAttributeKeyKeyword("Reason")
	KeyHealthy       = temporal.NewSearchAttributeKeyBool("Healthy")
)

// SearchAttributes are the keys that a Temporal namespace must know.
func SearchAttributes() []temporal.SearchAttributeKey {
	return []temporal.SearchAttributeKey{KeyProxyPhase, KeyAddonPhase, KeyProvider, KeyKubeNamespace, KeyKubeName, KeyReason, KeyHealthy}
}
