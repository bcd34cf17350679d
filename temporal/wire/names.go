// Package wire names and types everything that reaches a workflow history:
// workflow ids, task queues, signals, activities, search attributes, payloads and
// failure types. A change here changes histories.
package wire

import (
	"strings"

	"go.temporal.io/sdk/temporal"
)

// QueueMain is the task queue of workflows and of activities on objects.
const QueueMain = "fairlead"

const providerQueuePrefix = "fairlead-provider-"

// ProviderQueue is the task queue of the activities of one provider.
func ProviderQueue(provider string) string { return providerQueuePrefix + provider }

// WorkflowProxy is the workflow type of a Proxy.
const WorkflowProxy = "Proxy"

const proxyIDPrefix = "proxy/"

// ProxyID is the workflow id of a Proxy.
func ProxyID(ref ProxyRef) string {
	return proxyIDPrefix + ref.Namespace + "/" + ref.Name + "/" + ref.UID
}

// ParseProxyID is the inverse of ProxyID.
func ParseProxyID(id string) (ProxyRef, bool) {
	parts := strings.Split(strings.TrimPrefix(id, proxyIDPrefix), "/")
	if !strings.HasPrefix(id, proxyIDPrefix) || len(parts) != 3 {
		return ProxyRef{}, false
	}
	return ProxyRef{Namespace: parts[0], Name: parts[1], UID: parts[2]}, true
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
	KeyProvider      = temporal.NewSearchAttributeKeyKeyword("Provider")
	KeyKubeNamespace = temporal.NewSearchAttributeKeyKeyword("KubeNamespace")
	KeyKubeName      = temporal.NewSearchAttributeKeyKeyword("KubeName")
	KeyReason        = temporal.NewSearchAttributeKeyKeyword("Reason")
	KeyHealthy       = temporal.NewSearchAttributeKeyBool("Healthy")
)
