package plan

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fixed are the words of the API server for a field that keeps its first value. There
// is no code for it: each kind's validation has its own text.
var fixed = regexp.MustCompile(`(?is)immutable|updates to .* are forbidden|(may|must|can) ?not (be )?(change|update)`)

// immutableFields names the fields that err, of a dry run, is about, if all that is
// wrong is that they cannot be changed.
func immutableFields(err error) []string {
	status := apierrors.APIStatus(nil)
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var fields []string
	for _, c := range status.Status().Details.Causes {
		if !unchangeable(c) {
			return nil
		}
		fields = append(fields, c.Field)
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

func unchangeable(c metav1.StatusCause) bool {
	switch c.Type {
	case metav1.CauseTypeForbidden:
		return fixed.MatchString(c.Message)
	case metav1.CauseTypeFieldValueInvalid:
		// What stands before the last colon quotes the value.
		return fixed.MatchString(c.Message[strings.LastIndex(c.Message, ": ")+1:])
	}
	return false
}
