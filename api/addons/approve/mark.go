package approve

import (
	"crypto/hmac"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/internal/text"
)

// maxWho is what the history of an add-on has room for, in bytes.
const maxWho = 253

// signed is what a signature is for. The key has other uses, and none of them begins so.
const signed = "fairlead add-on approval v1"

// mark is the annotation that says who approved a plan. Everybody who may edit the object
// may write it; who has the key may sign it.
type mark struct {
	Plan string `json:"plan"`
	Who  string `json:"who,omitempty"`
	MAC  string `json:"mac,omitempty"`
}

func newMark(a *addons.Addon, plan string, r Request) (string, error) {
	m := mark{Plan: plan, Who: text.Head(strings.ToValidUTF8(r.Who, ""), maxWho, "")}
	if r.Sign != nil {
		m.MAC = m.sign(a, r.Sign)
	}
	data, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("say who approved plan %s: %w", plan, err)
	}
	return string(data), nil
}

// readMark returns the annotation if it is about spec.approve.
func readMark(a *addons.Addon) (m mark, ok bool) {
	err := json.Unmarshal([]byte(a.Annotations[addons.AnnotationApprovedBy]), &m)
	if err != nil || m.Plan == "" || m.Plan != a.Spec.Approve {
		return mark{}, false
	}
	return m, true
}

// sign is over the UID too: an approval is not that of another object with the plan.
func (m mark) sign(a *addons.Addon, sign func([]byte) string) string {
	// A list of texts can be marshalled, and read in one way only.
	data, _ := json.Marshal([]string{signed, string(a.UID), m.Plan, m.Who})
	return sign(data)
}

func (m mark) verified(a *addons.Addon, sign func([]byte) string) bool {
	return m.MAC != "" && hmac.Equal([]byte(m.MAC), []byte(m.sign(a, sign)))
}

// Approver says whose word the sync of a is that its spec asks for, and whether that was
// proved.
func Approver(a *addons.Addon, sign func([]byte) string) (who string, verified bool) {
	if bySyncRequest(a) {
		return manager(a, "f:syncRequest"), false
	}
	if m, ok := readMark(a); ok {
		return text.Head(m.Who, maxWho, ""), m.verified(a, sign)
	}
	if a.Spec.Approve == "" {
		return "", false
	}
	return manager(a, "f:approve"), false
}

// bySyncRequest says whether spec.syncRequest asks for the sync. Then whoever wrote an
// older spec.approve did not.
func bySyncRequest(a *addons.Addon) bool {
	waits := a.Status.Plan != nil && a.Status.Plan.Hash != "" && a.Status.Plan.Hash == a.Spec.Approve
	return a.Spec.SyncRequest > a.Status.AppliedSyncRequest && !waits
}

// manager is the field manager that wrote a field of the spec; the newest, if several did.
func manager(a *addons.Addon, field string) string {
	entries := slices.Clone(a.ManagedFields)
	slices.SortStableFunc(entries, func(a, b metav1.ManagedFieldsEntry) int { return written(b).Compare(written(a)) })
	for _, e := range entries {
		if e.Subresource == "" && owns(e.FieldsV1, field) {
			return text.Head(e.Manager, maxWho, "")
		}
	}
	return ""
}

func written(e metav1.ManagedFieldsEntry) time.Time {
	if e.Time == nil {
		return time.Time{}
	}
	return e.Time.Time
}

func owns(fields *metav1.FieldsV1, field string) bool {
	if fields == nil {
		return false
	}
	var owned struct {
		Spec map[string]json.RawMessage `json:"f:spec"`
	}
	// What is no JSON owns nothing.
	return json.Unmarshal(fields.GetRawBytes(), &owned) == nil && owned.Spec[field] != nil
}
