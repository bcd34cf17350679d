package v1alpha1

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SecretNames returns the names of the Secrets that p refers to, sorted, each once.
func (p *Proxy) SecretNames() []string {
	names := map[string]bool{}
	if c := p.Spec.CloudInit; c != nil && c.SecretRef != nil {
		names[c.SecretRef.Name] = true
	}
	if a := p.Spec.AuthSecretRef; a != nil {
		names[a.Name] = true
	}
	if h := p.Spec.HealthCheck; h != nil && h.CASecretRef != nil {
		names[h.CASecretRef.Name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// Inputs is a hash over all that a workflow acts on besides the outside world:
// generation, deletion, Fairlead's annotations and the versions of the referenced
// Secrets. secretVersions maps the name of each labelled Secret to its
// resourceVersion; a missing or unlabelled Secret has none.
func (p *Proxy) Inputs(secretVersions map[string]string) string {
	seen := struct {
		Generation  int64
		Deleting    bool
		Annotations map[string]string
		Secrets     map[string]string
	}{
		Generation:  p.Generation,
		Deleting:    !p.DeletionTimestamp.IsZero(),
		Annotations: map[string]string{},
		Secrets:     map[string]string{},
	}
	for k, v := range p.Annotations {
		if strings.HasPrefix(k, GroupVersion.Group+"/") {
			seen.Annotations[k] = v
		}
	}
	if !seen.Deleting { // no Secret is read for an object that is being deleted
		for _, name := range p.SecretNames() {
			seen.Secrets[name] = secretVersions[name]
		}
	}
	// Maps are marshalled with sorted keys, and none of these types can fail.
	data, _ := json.Marshal(seen)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// MaxReplaceValue bounds the value of the replace annotation, in bytes. Package wire
// has the same number for workflows.
const MaxReplaceValue = 256

// ReplaceAsked is the value of the replace annotation, as status.observedReplace
// tells it: a hash stands for one that is too long.
func (p *Proxy) ReplaceAsked() string {
	v := p.Annotations[AnnotationReplace]
	if len(v) <= MaxReplaceValue {
		return v
	}
	sum := sha256.Sum256([]byte(v))
	return "sha256:" + hex.EncodeToString(sum[:8])
}

// ReplacePending says whether somebody asked for another instance and was not
// answered yet.
func (p *Proxy) ReplacePending() bool {
	asked := p.ReplaceAsked()
	return asked != "" && asked != p.Status.ObservedReplace
}

// Paused says whether everything but deletion is to stop.
func (p *Proxy) Paused() bool { return p.Annotations[AnnotationPaused] == "true" }

// SkipsCleanup says whether the instances are abandoned when p is deleted.
func (p *Proxy) SkipsCleanup() bool { return p.Annotations[AnnotationSkipCleanup] == "true" }

// Released says whether p is only kept by others' finalizers: its workflow has ended
// for good.
func (p *Proxy) Released() bool {
	return !p.DeletionTimestamp.IsZero() && !slices.Contains(p.Finalizers, Finalizer) && !p.Foreign()
}

// Condition returns the condition of type t, or nil.
func (s *ProxyStatus) Condition(t string) *metav1.Condition {
	for i := range s.Conditions {
		if s.Conditions[i].Type == t {
			return &s.Conditions[i]
		}
	}
	return nil
}

// IsTrue says whether the condition of type t is True.
func (s *ProxyStatus) IsTrue(t string) bool {
	c := s.Condition(t)
	return c != nil && c.Status == metav1.ConditionTrue
}

// ListenPort is the port that an instance listens on.
func (s *ProxySpec) ListenPort() int32 {
	if s.Port == 0 {
		return DefaultPort
	}
	return s.Port
}

// Scheme is how clients speak to p.
func (p *Proxy) Scheme() Scheme {
	if p.Spec.Endpoint != nil && p.Spec.Endpoint.Scheme != "" {
		return p.Spec.Endpoint.Scheme
	}
	return SchemeHTTP
}

// Foreign says whether another operator wrote the status of p, which has an
// instance then and no sequence.
func (p *Proxy) Foreign() bool {
	return p.Status.Sequence == 0 && len(p.Status.Instances) == 0 && p.Status.ProviderID != ""
}

// Current is the newest entry of the ledger, the instance that clients use, or
// nil for an External proxy and before the first Create.
func (s *ProxyStatus) Current() *InstanceRecord {
	var newest *InstanceRecord
	for i := range s.Instances {
		if r := &s.Instances[i]; newest == nil || r.Incarnation > newest.Incarnation {
			newest = r
		}
	}
	return newest
}

// DefaultDrainTimeout is the CRD's, for objects without a replacement block.
const DefaultDrainTimeout = 5 * time.Minute

// DrainTimeout is how long a replacement waits for the last lease.
func (p *Proxy) DrainTimeout() time.Duration {
	if p.Spec.Replacement == nil {
		return DefaultDrainTimeout
	}
	return DurationOr(p.Spec.Replacement.DrainTimeout, DefaultDrainTimeout)
}

// defaultBanWindow is the CRD's, for objects that were written before it had one.
const defaultBanWindow = 10 * time.Minute

// BanLimit is how many bans within window ask for another instance; with a count of 0, none
// do.
func (p *Proxy) BanLimit() (count int, window time.Duration) {
	if p.Spec.Replacement == nil || p.Spec.Replacement.Bans == nil {
		return 0, 0
	}
	bans := p.Spec.Replacement.Bans
	return int(bans.Count), DurationOr(bans.Window, defaultBanWindow)
}

// DurationOr returns d, or fallback when it is not set.
func DurationOr(d *metav1.Duration, fallback time.Duration) time.Duration {
	if d == nil {
		return fallback
	}
	return d.Duration
}
