package plan

import (
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/internal/text"
)

// maxReason bounds what a reason quotes: the status of an Addon has no room for more.
const maxReason = 400

// excuse says why a failed dry run tells nothing about the object. It is empty for
// all other failures, which are errors of the object.
func (s *session) excuse(err error, about manifest.ID, doubt string) string {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return ""
	}
	message := status.Status().Message
	switch {
	case strings.Contains(message, "does not support dry run"):
		return "an admission webhook refuses dry runs: " + s.told(message)
	case strings.Contains(message, "failed calling webhook"):
		return "an admission webhook cannot be asked: " + s.told(message)
	case doubt != "":
		return doubt
	}
	if id, ok := s.crowd.named(message, about); ok {
		return id.String() + " comes in the same plan"
	}
	return ""
}

func (s *session) told(message string) string {
	return text.Head(s.mask.Text(message), maxReason, "… (cut)")
}
