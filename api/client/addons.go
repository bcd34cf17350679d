package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// planLimit is how long a plan may take: that of a large chart has 60 MB.
const planLimit = 2 * time.Minute

// Addon is an add-on in a list.
type Addon struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	// Phase is Pending, Synced, OutOfSync, Blocked, Error, Suspended, Syncing or Uninstalling.
	Phase    string `json:"phase"`
	Message  string `json:"message"`
	Revision string `json:"revision"`
	// Health is Healthy, Progressing, Degraded, Missing or Unknown; empty before anything was
	// applied.
	Health string      `json:"health"`
	Plan   AddonCounts `json:"plan"`

	Title     string `json:"title"`
	Category  string `json:"category"`
	Suspended bool   `json:"suspended"`
	// Deleting: the add-on goes, and if Uninstalling its objects too.
	Deleting     bool `json:"deleting"`
	Uninstalling bool `json:"uninstalling"`
}

// AddonCounts are what the next sync would do. Nothing waits without a hash.
type AddonCounts struct {
	Hash       string `json:"hash"`
	Create     int    `json:"create"`
	Update     int    `json:"update"`
	Replace    int    `json:"replace"`
	Prune      int    `json:"prune"`
	Unchanged  int    `json:"unchanged"`
	Unverified int    `json:"unverified"`
}

// AddonDetails are what is told of one add-on alone.
type AddonDetails struct {
	Addon

	UID                string `json:"uid"`
	Generation         int64  `json:"generation"`
	ObservedGeneration int64  `json:"observedGeneration"`
	// Spec is that of the Addon object.
	Spec json.RawMessage `json:"spec"`
	// Definition that it was made from in git, as file@commit.
	Definition string `json:"definition"`
	// MarkedForUninstall: whoever deletes it removes its objects.
	MarkedForUninstall bool `json:"markedForUninstall"`

	HealthMessage string `json:"healthMessage"`
	// Objects that were applied: the first 500 of ObjectsTotal.
	Objects      []Object   `json:"objects"`
	ObjectsTotal int        `json:"objectsTotal"`
	LastSynced   *time.Time `json:"lastSynced"`
	// History has the last syncs, the newest last.
	History []AddonSync `json:"history"`
}

// Object names an object of a cluster.
type Object struct {
	Group     string `json:"group,omitempty"`
	Version   string `json:"version"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Outcomes of a sync.
const (
	SyncSucceeded = "Succeeded"
	SyncFailed    = "Failed"
	// SyncStopped: the cluster was no longer what had been reviewed.
	SyncStopped = "Stopped"
)

// AddonSync is one sync of the past.
type AddonSync struct {
	Revision string `json:"revision"`
	PlanHash string `json:"planHash"`
	// Who approved it, and whether that was proved by a token of the API.
	Who      string    `json:"who"`
	Verified bool      `json:"verified"`
	At       time.Time `json:"at"`
	Outcome  string    `json:"outcome"`
	Message  string    `json:"message"`
}

// Plan is what a sync of an add-on would do. It holds no secret.
type Plan struct {
	Hash   string     `json:"hash"`
	Made   time.Time  `json:"made"`
	Counts PlanCounts `json:"counts"`
	Items  []PlanItem `json:"items"`
	Hooks  []PlanHook `json:"hooks"`
}

// PlanCounts are the numbers of items. Unverified and blocked ones are counted under their
// action too.
type PlanCounts struct {
	Create     int `json:"create"`
	Update     int `json:"update"`
	Replace    int `json:"replace"`
	Prune      int `json:"prune"`
	Unchanged  int `json:"unchanged"`
	Keep       int `json:"keep"`
	Unverified int `json:"unverified"`
	Blocked    int `json:"blocked"`
}

// PlanItem is what is to be done to one object.
type PlanItem struct {
	Object

	// Action is create, update, replace, prune, unchanged or keep.
	Action string `json:"action"`
	// Diff is unified, with secrets masked.
	Diff string `json:"diff,omitempty"`
	// Immutable names the fields that only a replacement can change.
	Immutable []string `json:"immutable,omitempty"`
	// Unverified says why no dry run could be made.
	Unverified string `json:"unverified,omitempty"`
	// Blocked says why it may not be done.
	Blocked string `json:"blocked,omitempty"`
	// Owner is the tool or add-on that holds the object.
	Owner string `json:"owner,omitempty"`
	// Note says why an object is kept.
	Note string `json:"note,omitempty"`
	// Adopts: the object exists, and was not the add-on's until now.
	Adopts bool `json:"adopts,omitempty"`
}

// PlanHook is a hook that the sync would run.
type PlanHook struct {
	Object

	Events []string `json:"events"`
	Weight int      `json:"weight"`
}

// Approval is what a sync was asked for with.
type Approval struct {
	Plan string `json:"plan"`
	// Generation of the object: the status speaks of the approval from that
	// ObservedGeneration on.
	Generation int64  `json:"generation"`
	WorkflowID string `json:"workflowID"`
}

// Removal is what becomes of a deleted add-on.
type Removal struct {
	Name string `json:"name"`
	// Uninstall: its objects go too.
	Uninstall    bool   `json:"uninstall"`
	ObjectsTotal int    `json:"objectsTotal"`
	UID          string `json:"uid"`
}

func addonPath(name string) string { return "/v1/addons/" + url.PathEscape(name) }

// Addons returns all add-ons by name.
func (c *Client) Addons(ctx context.Context) ([]Addon, error) {
	var list struct {
		Addons []Addon `json:"addons"`
	}
	if err := c.doInto(ctx, call{method: http.MethodGet, path: "/v1/addons"}, &list); err != nil {
		return nil, fmt.Errorf("list the add-ons: %w", err)
	}
	return list.Addons, nil
}

// Addon returns one add-on.
func (c *Client) Addon(ctx context.Context, name string) (a AddonDetails, err error) {
	if err = c.doInto(ctx, call{method: http.MethodGet, path: addonPath(name)}, &a); err != nil {
		err = fmt.Errorf("look at add-on %s: %w", name, err)
	}
	return a, err
}

// Plan returns what the next sync of an add-on would do, or ErrNoPlan.
func (c *Client) Plan(ctx context.Context, name string) (p Plan, err error) {
	if err = c.doInto(ctx, call{method: http.MethodGet, path: addonPath(name) + "/plan", limit: planLimit}, &p); err != nil {
		err = fmt.Errorf("read the plan of add-on %s: %w", name, err)
	}
	return p, err
}

// PlanText is Plan as a text for people.
func (c *Client) PlanText(ctx context.Context, name string) ([]byte, error) {
	r, err := c.do(ctx, call{method: http.MethodGet, path: addonPath(name) + "/plan?format=text", limit: planLimit})
	if err != nil {
		return nil, fmt.Errorf("read the plan of add-on %s: %w", name, err)
	}
	return r.body, nil
}

// Sync approves a plan of an add-on by its hash, or if that is empty the plan that waits.
// Asking again changes nothing.
func (c *Client) Sync(ctx context.Context, name, plan string) (a Approval, err error) {
	body := struct {
		Plan string `json:"plan,omitempty"`
	}{plan}
	if err = c.doInto(ctx, call{method: http.MethodPost, path: addonPath(name) + "/sync", body: body, limit: writeLimit}, &a); err != nil {
		err = fmt.Errorf("sync add-on %s: %w", name, err)
	}
	return a, err
}

// DeleteAddon deletes an add-on, and if uninstall its objects too. It returns when that has
// begun.
func (c *Client) DeleteAddon(ctx context.Context, name string, uninstall bool) (r Removal, err error) {
	path := addonPath(name) + "?uninstall=" + fmt.Sprint(uninstall)
	if err = c.doInto(ctx, call{method: http.MethodDelete, path: path, limit: writeLimit}, &r); err != nil {
		err = fmt.Errorf("delete add-on %s: %w", name, err)
	}
	return r, err
}
