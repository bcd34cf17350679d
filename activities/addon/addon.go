// Package addon holds the activities on Addon objects: thin adapters that read, do, and say
// what happened. What comes next is for the workflow to decide.
package addon

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon/kept"
	"example.com/fairlead/activities/addon/look"
	"example.com/fairlead/activities/events"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// Activities are the activities on Addon objects. Their rights are in
// deploy/rbac/rendimiento-addons.yaml: a cluster without add-ons gives none.
type Activities struct {
	// Client reads live, as the component itself: a cache may be behind what a workflow has
	// written.
	Client client.Client
	// Look looks at add-ons, as their identity.
	Look *look.Looker
	// Store has the renders, plans and inventories.
	Store kept.Store
	// System is the namespace that Fairlead runs in.
	System string
	// Events tells people what happened; nil tells nobody.
	Events *events.Recorder
	Log    *slog.Logger
	Now    func() time.Time
}

// get reads the object named by ref; found is false when it, or this UID, is gone. Of
// another object with that name, o is not nil.
func (a *Activities) get(ctx context.Context, ref wire.AddonRef) (o *addons.Addon, found bool, err error) {
	o = &addons.Addon{}
	err = a.Client.Get(ctx, types.NamespacedName{Name: ref.Name}, o)
	switch {
	case apierrors.IsNotFound(err):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("read Addon %s: %w", ref, err)
	}
	return o, string(o.UID) == ref.UID, nil
}
