package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"regexp"

	"example.com/fairlead/api/addons/approve"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// goodPlanHash is what spec.approve takes.
var goodPlanHash = regexp.MustCompile(`^([a-z0-9]+:)?[0-9a-z]{16,64}$`)

const maxPlanHash = 80

type syncRequest struct {
	// Plan is the hash to approve; empty for the one that the status shows.
	Plan string `json:"plan"`
}

func (b syncRequest) validate() error {
	if b.Plan != "" && (len(b.Plan) > maxPlanHash || !goodPlanHash.MatchString(b.Plan)) {
		return badRequest("invalid_body", "plan is no hash of a plan: GET /v1/addons/{name} tells the one that waits")
	}
	return nil
}

// approval says which plan was approved, and where the sync can be followed.
type approval struct {
	Plan string `json:"plan"`
	// Generation of the object: the status speaks of the approval from that
	// observedGeneration on.
	Generation int64  `json:"generation"`
	WorkflowID string `json:"workflowID"`
}

func (s *server) syncAddon(w http.ResponseWriter, r *http.Request, a *Addons) error {
	one, asked, err := approved(r, a)
	switch {
	case err == nil:
		s.Log.InfoContext(r.Context(), "a plan was approved", slog.String("addon", one.Name), slog.String("plan", one.Spec.Approve),
			slog.String("client", callerOf(r).name), slog.String("requestID", requestID(r.Context())))
		answer(w, r, http.StatusAccepted, approval{one.Spec.Approve, one.Generation, wire.AddonID(wire.AddonRef{Name: one.Name, UID: string(one.UID)})})
		return nil
	case errors.Is(err, approve.ErrGone):
		return errUnknownAddon
	case errors.Is(err, approve.ErrDeleting):
		refuse(w, r, http.StatusConflict, "being_deleted", "add-on "+pathPart(r, "name")+" is being deleted: it is synced no more")
		return nil
	case errors.Is(err, approve.ErrSuspended):
		refuse(w, r, http.StatusConflict, "suspended", "add-on "+pathPart(r, "name")+" is suspended: set spec.suspend to false, and take off annotation "+
			addons.AnnotationPaused+", then ask again")
		return nil
	case errors.Is(err, approve.ErrNothing), errors.Is(err, approve.ErrOther):
		return refuseApproval(w, r, a, asked, errors.Is(err, approve.ErrOther))
	}
	return err
}

// refuseApproval says what the status shows instead.
func refuseApproval(w http.ResponseWriter, r *http.Request, a *Addons, asked string, other bool) error {
	now, err := readAddon(r, a.Objects) // not the cache, which the refusal may be ahead of
	if err != nil {
		return err
	}
	path := "/v1/addons/" + now.Name
	if p := now.Status.Plan; other && p != nil && p.Hash != "" {
		refuse(w, r, http.StatusConflict, "other_plan", "plan "+asked+" of add-on "+now.Name+" does not wait: the one that does is "+p.Hash+
			": look at GET "+path+"/plan, and approve that")
		return nil
	}
	refuse(w, r, http.StatusConflict, "no_plan", "no plan of add-on "+now.Name+" waits to be approved: it is "+phaseOf(now)+": GET "+path+" tells more")
	return nil
}

// approved writes the approval on the object. It returns which plan was asked for, too.
func approved(r *http.Request, a *Addons) (*addons.Addon, string, error) {
	if err := operatorOnly(r, "sync add-ons"); err != nil {
		return nil, "", err
	}
	if err := noParameters(r.URL.Query(), "POST /v1/addons/{name}/sync"); err != nil {
		return nil, "", err
	}
	var body syncRequest
	if err := decodeIfAny(r, &body); err != nil {
		return nil, "", err
	}
	if err := body.validate(); err != nil {
		return nil, "", err
	}
	name, err := addonName(r)
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(r.Context(), writeObject)
	defer cancel()
	sign, err := a.Sets.Signer(ctx)
	if err != nil {
		return nil, "", err
	}
	one, err := approve.Ask(ctx, a.Objects, name, "", approve.Request{Plan: body.Plan, Who: callerOf(r).name, Sign: sign})
	return one, body.Plan, err
}
