package kubernetes

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/fairlead/activities/provider"
)

// quotaRefusal is how the API server words a ResourceQuota's 403, which has no
// reason of its own.
const quotaRefusal = "exceeded quota"

// accountRefusal is how it words that the ServiceAccount of a new namespace is not
// there yet.
const accountRefusal = "error looking up service account"

// classify gives an API server's refusal its class.
func classify(doing string, id provider.ID, err error) error {
	class := provider.ErrTransient
	switch {
	case errors.Is(err, provider.ErrPermanent), errors.Is(err, provider.ErrTransient):
		return fmt.Errorf("%s pod %s/%s: %w", doing, id.Place, id.Name, err)
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), quotaRefusal):
		class = provider.ErrQuotaExceeded
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), accountRefusal):
		// A controller makes it a moment after the namespace.
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		// Its Proxy is going too, and must not be latched as failed.
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		class = provider.ErrPermanent
	}
	return fmt.Errorf("%s pod %s/%s: %w: %w", doing, id.Place, id.Name, err, class)
}
