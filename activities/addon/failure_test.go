package addon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"example.com/fairlead/activities/addon/apply"
	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/mask"
	"example.com/fairlead/activities/addon/plan"
	"example.com/fairlead/activities/fetch"
	"example.com/fairlead/activities/outcome"
)

var (
	errDown    = &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	errInvalid = apierrors.NewBadRequest("the color c4nary is no color")
	errMoved   = &apply.MovedError{}
)

// of are errors of objects a, b and so on.
func of(errs ...error) plan.Errors {
	var out plan.Errors
	for i, err := range errs {
		out = append(out, &plan.ObjectError{ID: manifest.ID{GroupKind: schema.GroupKind{Kind: "Pod"}, Name: string(rune('a' + i))}, Err: err})
	}
	return out
}

func TestEndOf(t *testing.T) {
	secrets := mask.New([][]byte{[]byte("c4nary")})
	moved := errMoved.Error()
	for name, c := range map[string]struct {
		err   error
		want  [2]string // moved, failed
		again bool
	}{
		"an object that is refused":                  {of(errInvalid), [2]string{"", "Pod a: the color <secret> is no color"}, false},
		"an API server that is down":                 {of(fmt.Errorf("dry run: %w", errDown)), [2]string{}, true},
		"an API server that is down for one":         {of(errDown, errInvalid), [2]string{"", "Pod a: dial: connection refused; Pod b: the color <secret> is no color"}, false},
		"something moved":                            {errMoved, [2]string{moved, ""}, false},
		"something moved, and the API server failed": {errors.Join(errMoved, of(errDown)), [2]string{moved, ""}, false},
		"something moved, and another was refused":   {errors.Join(errMoved, of(errInvalid)), [2]string{moved, "Pod a: the color <secret> is no color"}, false},
		"a worker that ends":                         {fmt.Errorf("apply: %w", context.Canceled), [2]string{}, true},
		"all else":                                   {errors.New("it is not served"), [2]string{"", "it is not served"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := endOf(c.err, secrets)
			if diff := cmp.Diff(c.want, [2]string{got.moved, got.failed}); diff != "" {
				t.Errorf("moved and failed (-want +got):\n%s", diff)
			}
			if (got.again != nil) != c.again {
				t.Errorf("to be done again: %v", got.again)
			}
		})
	}
}

func TestOutage(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"refused connection":   {fmt.Errorf("read: %w", errDown), true},
		"too many requests":    {apierrors.NewTooManyRequests("later", 1), true},
		"internal error":       {apierrors.NewInternalError(errors.New("failed calling webhook")), true},
		"unavailable":          {apierrors.NewServiceUnavailable("starting"), true},
		"server timeout":       {apierrors.NewServerTimeout(pods, "get", 1), true},
		"unknown groups":       {fmt.Errorf("find: %w", &discovery.ErrGroupDiscoveryFailed{}), true},
		"kind not served yet":  {of(plan.ErrStale)[0], true},
		"expired credentials":  {apierrors.NewUnauthorized("expired"), true},
		"no right":             {apierrors.NewForbidden(pods, "a", errors.New("no")), false},
		"invalid object":       {errInvalid, false},
		"something unexpected": {errors.New("it is odd"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := outage(c.err); got != c.want {
				t.Errorf("an outage: %v", got)
			}
		})
	}
}

func TestJudged(t *testing.T) {
	for name, c := range map[string]struct {
		err       error
		permanent bool
	}{
		"refused objects":      {of(errInvalid), true},
		"an outage":            {of(errDown), false},
		"a source that is odd": {fmt.Errorf("chart: %w", fetch.ErrPermanent), true},
		"a source that rests":  {fmt.Errorf("chart: %w", fetch.ErrTemporary), false},
		"an empty source":      {plan.ErrEmpty, true},
	} {
		t.Run(name, func(t *testing.T) {
			got := judged(c.err)
			if errors.Is(got, outcome.ErrPermanent) != c.permanent || got.Error() != c.err.Error() {
				t.Errorf("it is %v", got)
			}
		})
	}
	if got := judged(errors.New(strings.Repeat("x", 1<<20))); len(got.Error()) > 4<<10 {
		t.Errorf("it has %d bytes", len(got.Error()))
	}
}
