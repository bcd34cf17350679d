package addon

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/discovery"

	"example.com/fairlead/activities/addon/apply"
	"example.com/fairlead/activities/addon/look"
	"example.com/fairlead/activities/addon/mask"
	"example.com/fairlead/activities/addon/plan"
	"example.com/fairlead/activities/fetch"
	"example.com/fairlead/activities/outcome"
	"example.com/fairlead/internal/text"
)

// maxFailure is how many bytes a failure has in a history.
const maxFailure = 2 << 10

// permanent is an error that no retry can help, in its own words.
type permanent struct{ error }

func (p permanent) Is(target error) bool { return target == outcome.ErrPermanent }
func (p permanent) Unwrap() error        { return p.error }

// judged is err cut for a history, and permanent if somebody has to change something first.
func judged(err error) error {
	var several plan.Errors
	hopeless := errors.Is(err, plan.ErrEmpty) || errors.Is(err, look.ErrNoInventory) ||
		errors.Is(err, look.ErrTooManyHooks) || errors.Is(err, fetch.ErrPermanent) ||
		errors.As(err, &several) && !allOutages(several)
	if err = cut(mask.Mask{}, err); hopeless {
		return permanent{err}
	}
	return err
}

// end is how a piece of work ended that did not go well.
type end struct {
	// moved and failed are facts; it makes no sense to do the same again.
	moved, failed string
	// again is an error that says nothing about the add-on.
	again error
}

// endOf sorts err.
func endOf(err error, secrets mask.Mask) end {
	var out end
	var moved *apply.MovedError
	if errors.As(err, &moved) {
		out.moved = shown(secrets, moved.Error())
	}
	var several plan.Errors
	switch {
	case errors.As(err, &several) && !allOutages(several):
		out.failed = shown(secrets, words(several))
	case out.moved != "":
	case several != nil || outage(err):
		out.again = cut(secrets, err)
	default:
		out.failed = shown(secrets, err.Error())
	}
	return out
}

func words(several plan.Errors) string {
	all := make([]string, len(several))
	for i, one := range several {
		all[i] = one.Error()
	}
	return strings.Join(all, "; ")
}

func allOutages(several plan.Errors) bool {
	for _, one := range several {
		if !outage(one) {
			return false
		}
	}
	return true
}

// outage says whether err is no answer: to ask again may give one.
func outage(err error) bool {
	var network net.Error
	var undiscovered *discovery.ErrGroupDiscoveryFailed
	status := apierrors.APIStatus(nil)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, plan.ErrStale):
		return true
	case errors.As(err, &status):
		code := status.Status().Code
		return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests || code == http.StatusUnauthorized ||
			code == http.StatusRequestTimeout
	}
	return errors.As(err, &network) || errors.As(err, &undiscovered) || utilnet.IsConnectionRefused(err) ||
		utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err) || utilnet.IsHTTP2ConnectionLost(err)
}

// shown is s for people.
func shown(secrets mask.Mask, s string) string {
	return text.Head(secrets.Text(s), maxFailure, "… (cut)")
}

// cut is err for a history.
func cut(secrets mask.Mask, err error) error {
	return secrets.Error(err, func(s string) string { return text.Head(s, maxFailure, "… (cut)") })
}
