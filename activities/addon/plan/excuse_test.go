package plan

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fairlead/activities/addon/manifest"
)

// TestExcuse has the answers that no API server of the tests gives: webhooks with side
// effects are of clusters that were once older.
func TestExcuse(t *testing.T) {
	absent := manifest.ID{GroupKind: secretKind, Namespace: "shop", Name: "keys"}
	about := manifest.ID{GroupKind: schema.GroupKind{Kind: "Pod"}, Namespace: "shop", Name: "web"}
	tests := map[string]struct {
		err  error
		want string
	}{
		"a webhook with side effects": {
			apierrors.NewBadRequest(`admission webhook "a.example.com" does not support dry run`),
			`an admission webhook refuses dry runs: admission webhook "a.example.com" does not support dry run`,
		},
		"a webhook that denies":                     {apierrors.NewBadRequest(`admission webhook "a.example.com" denied the request: no`), ""},
		"an object that comes with the plan":        {forbidden(`pods "web" is forbidden: secret "keys" not found`), absent.String() + " comes in the same plan"},
		"an object that does not":                   {forbidden(`secret "locks" not found`), ""},
		"another kind of the name":                  {forbidden(`configmap "keys" not found`), ""},
		"a name that is part of another":            {forbidden(`secret "keys-of-all" not found`), ""},
		"an object that is there and is not wanted": {forbidden(`secret "keys" may not be used`), ""},
		"no answer": {errors.New(`secret "keys" not found`), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := &session{crowd: crowd{absent: map[manifest.ID]bool{absent: true, about: true}}}
			if got := s.excuse(test.err, about, ""); got != test.want {
				t.Errorf("the excuse is %q, want %q", got, test.want)
			}
		})
	}
}

func forbidden(message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonForbidden, Message: message}}
}
