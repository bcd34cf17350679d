package server

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"

	"example.com/fairlead/api/addons/remove"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

// removal says what becomes of a deleted add-on.
type removal struct {
	Name string `json:"name"`
	// Uninstall: its objects go too.
	Uninstall bool `json:"uninstall"`
	// ObjectsTotal is how many it has.
	ObjectsTotal int32  `json:"objectsTotal"`
	UID          string `json:"uid"`
}

func (s *server) deleteAddon(w http.ResponseWriter, r *http.Request, a *Addons) error {
	if err := operatorOnly(r, "delete add-ons"); err != nil {
		return err
	}
	uninstall, err := wantsUninstall(r.URL.Query())
	if err != nil {
		return err
	}
	name, err := addonName(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), writeObject)
	defer cancel()
	one, err := remove.Ask(ctx, a.Objects, name, uninstall)
	switch {
	case err == nil:
		s.Log.InfoContext(r.Context(), "an add-on is deleted", slog.String("addon", one.Name), slog.Bool("uninstall", uninstall),
			slog.String("client", callerOf(r).name), slog.String("requestID", requestID(r.Context())))
		answer(w, r, http.StatusAccepted, removal{one.Name, uninstall, one.Status.ObjectsTotal, string(one.UID)})
	case errors.Is(err, remove.ErrGone):
		return errUnknownAddon
	case errors.Is(err, remove.ErrGit):
		refuse(w, r, http.StatusConflict, "managed_in_git", "add-on "+name+" is defined in git ("+
			cmp.Or(one.Annotations[addons.AnnotationSource], "annotation "+addons.AnnotationSource+" is missing")+
			", annotation "+addons.AnnotationSource+"): delete its definition there, or it comes back")
	case errors.Is(err, remove.ErrDeleting):
		refuse(w, r, http.StatusConflict, "being_deleted", "add-on "+name+" is being deleted already, and "+deletionOf(one))
	default:
		return err
	}
	return nil
}

// deletionOf says what a deletion under way does, and what can be done about it.
func deletionOf(a *addons.Addon) string {
	if a.Uninstalls() {
		return "its objects go with it: to keep those that are left, take annotation " + addons.AnnotationUninstall + " off"
	}
	return "its objects stay: delete them by label " + addons.LabelAddon + "=" + a.Name
}

func wantsUninstall(query url.Values) (bool, error) {
	for k, values := range query {
		switch {
		case k != "uninstall":
			return false, badRequest("invalid_query", "unknown parameter %q: use uninstall=true or uninstall=false", k)
		case len(values) > 1:
			return false, badRequest("invalid_query", "uninstall is given %d times", len(values))
		case values[0] != "true" && values[0] != "false":
			return false, badRequest("invalid_query", "uninstall must be true or false")
		}
	}
	return query.Get("uninstall") == "true", nil
}
