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

// WorkflowProxy is the workflow type of a Proxy.
const WorkflowProxy = "Proxy"

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
)

// MemoTitle is the memo key of a workflow's title.
const MemoTitle = "title"

// Search attributes.
var (
	KeyProxyPhase    = temporal.NewSearchAttributeKeyKeyword("ProxyPhase")
	keyAddonPhase    = temporal.NewSearchAttributeKeyKeyword("AddonPhase")
	KeyProvider      = temporal.NewSearchAttributeKeyKeyword("Provider")
	KeyKubeNamespace = temporal.NewSearchAttributeKeyKeyword("KubeNamespace")
	KeyKubeName      = temporal.NewSearchAttributeKeyKeyword("KubeName")
	KeyReason        = temporal.NewSearchAttributeKeyKeyword("Reason")
	KeyHealthy       = temporal.NewSearchAttributeKeyBool("Healthy")
)

// SearchAttributes are the keys that a Temporal namespace must know.
func SearchAttributes() []temporal.SearchAttributeKey {
	return []temporal.SearchAttributeKey{KeyProxyPhase, keyAddonPhase, KeyProvider, KeyKubeNamespace, KeyKubeName, KeyReason, KeyHealthy}
}
