package v1alpha1

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
)

// Inputs is a hash over all that a workflow acts on besides the outside world: generation,
// deletion, the annotations of rendimiento.ai, and which of spec.dependsOn are ready. What
// Secrets and sources hold is the outside world: sweeps look at it.
func (a *Addon) Inputs(ready map[string]bool) string {
	seen := struct {
		Generation  int64
		Deleting    bool
		Annotations map[string]string
		Ready       map[string]bool
	}{
		Generation:  a.Generation,
		Deleting:    !a.DeletionTimestamp.IsZero(),
		Annotations: map[string]string{},
		Ready:       map[string]bool{},
	}
	for k, v := range a.Annotations {
		if strings.HasPrefix(k, GroupVersion.Group+"/") {
			seen.Annotations[k] = v
		}
	}
	if !seen.Deleting { // a deletion waits for nobody
		for _, d := range a.Spec.DependsOn {
			seen.Ready[d.Name] = ready[d.Name]
		}
	}
	// Maps are marshalled with sorted keys, and none of these types can fail.
	data, _ := json.Marshal(seen)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// Released says whether a is only kept by others' finalizers: its workflow has ended for
// good.
func (a *Addon) Released() bool {
	return !a.DeletionTimestamp.IsZero() && !slices.Contains(a.Finalizers, Finalizer)
}
