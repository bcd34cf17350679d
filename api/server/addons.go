package server

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/api/addons/remove"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

// Addons is what the API needs for the routes of add-ons. All is required.
type Addons struct {
	// Cache has the Addon objects.
	Cache client.Reader
	// Objects reads them live, and writes what people want of them.
	Objects remove.Client
	// Sets is what is kept of add-ons beside their objects.
	Sets Sets
}

// Sets is what is kept of add-ons beside their objects.
type Sets interface {
	// Plan that the status of an add-on names, ErrNoPlan if it is not kept any more.
	Plan(ctx context.Context, a *addons.Addon) (Plan, error)
	// Signer makes what proves that an approval came through the API.
	Signer(ctx context.Context) (func([]byte) string, error)
}

// ErrNoPlan is that of a plan which the status names and nobody keeps.
var ErrNoPlan = errors.New("the plan is not kept any more")

// errUnknownAddon: there is no such object.
var errUnknownAddon = errors.New("there is no such add-on")

// readAddons bounds a look into a cache that may not be filled yet.
const readAddons = 5 * time.Second

// addonHandler answers for a caller that may see add-ons.
type addonHandler func(w http.ResponseWriter, r *http.Request, a *Addons) error

// withAddons is the handler of a route of add-ons: h answers, or returns why it did not.
func (s *server) withAddons(h addonHandler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if who := callerOf(r); !who.seesAll() {
			refuse(w, r, http.StatusForbidden, "forbidden", "token "+who.name+" may not see add-ons: this takes one of scope read or operator")
			return
		}
		if s.Addons == nil {
			noAddons(w, r, "this API serves no add-ons: it was started without them")
			return
		}
		if err := h(w, r, s.Addons); err != nil {
			s.failAddon(w, r, err)
		}
	}
}

func (s *server) failAddon(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, errUnknownAddon):
		refuse(w, r, http.StatusNotFound, "unknown_addon", "there is no add-on "+pathPart(r, "name")+": GET /v1/addons lists them")
	case meta.IsNoMatchError(err):
		noAddons(w, r, "the cluster has no kind Addon: apply deploy/crds to it")
	default:
		s.fail(w, r, err)
	}
}

func noAddons(w http.ResponseWriter, r *http.Request, message string) {
	refuse(w, r, http.StatusServiceUnavailable, "no_addons", message)
}

// list are all add-ons by name. They are the cache's own: nobody changes them.
func (a *Addons) list(ctx context.Context) ([]addons.Addon, error) {
	ctx, cancel := context.WithTimeout(ctx, readAddons)
	defer cancel()
	var l addons.AddonList
	// A copy of all of them takes some 100 KB each.
	if err := a.Cache.List(ctx, &l, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	slices.SortFunc(l.Items, func(x, y addons.Addon) int { return strings.Compare(x.Name, y.Name) })
	return l.Items, nil
}

// named is the add-on that the path names.
func (a *Addons) named(r *http.Request) (*addons.Addon, error) {
	return readAddon(r, a.Cache)
}

// getter reads objects, live or not.
type getter interface {
	Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error
}

func readAddon(r *http.Request, from getter) (*addons.Addon, error) {
	name, err := addonName(r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), readAddons)
	defer cancel()
	var one addons.Addon
	if err := from.Get(ctx, client.ObjectKey{Name: name}, &one); apierrors.IsNotFound(err) {
		return nil, errUnknownAddon
	} else if err != nil {
		return nil, err
	}
	return &one, nil
}

// addonName is that of the path, if an object can have it.
func addonName(r *http.Request) (string, error) {
	name := pathPart(r, "name")
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return "", errUnknownAddon
	}
	return name, nil
}

func (s *server) listAddons(w http.ResponseWriter, r *http.Request, a *Addons) error {
	if err := noParameters(r.URL.Query(), "GET /v1/addons"); err != nil {
		return err
	}
	all, err := a.list(r.Context())
	if err != nil {
		return err
	}
	list := addonList{Addons: make([]addonView, len(all)), Count: len(all)}
	for i := range all {
		list.Addons[i] = viewOfAddon(&all[i])
	}
	answer(w, r, http.StatusOK, list)
	return nil
}

func (s *server) getAddon(w http.ResponseWriter, r *http.Request, a *Addons) error {
	if err := noParameters(r.URL.Query(), "GET /v1/addons/{name}"); err != nil {
		return err
	}
	one, err := a.named(r)
	if err != nil {
		return err
	}
	answer(w, r, http.StatusOK, detailsOfAddon(one))
	return nil
}
