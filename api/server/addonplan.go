package server

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	addons "example.com/fairlead/api/addons/v1alpha1"
)

const (
	// maxReading is how many plans may be in memory: one of a large chart is 60 MB.
	maxReading = 2
	// sendPlan is how long a plan may take to be sent.
	sendPlan = 2 * time.Minute
)

// Plan is what a sync of an add-on would do. It holds no secret.
type Plan struct {
	Hash   string     `json:"hash"`
	Made   time.Time  `json:"made,omitzero"`
	Counts PlanCounts `json:"counts"`
	Hooks  []PlanHook `json:"hooks"`
	// Items are left out of the JSON: they are written one by one.
	Items []PlanItem `json:"-"`
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
	addons.ObjectRef

	// Action is create, update, replace, prune, unchanged or keep.
	Action string `json:"action"`
	// Diff is unified and masked.
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
	addons.ObjectRef

	Events []string `json:"events"`
	Weight int      `json:"weight"`
}

func (s *server) getPlan(w http.ResponseWriter, r *http.Request, a *Addons) error {
	text, err := wantsText(r.URL.Query())
	if err != nil {
		return err
	}
	one, err := a.named(r)
	if err != nil {
		return err
	}
	if one.Status.Plan == nil || one.Status.Plan.Hash == "" {
		refuse(w, r, http.StatusNotFound, "no_plan", "no plan waits: add-on "+one.Name+" is "+phaseOf(one))
		return nil
	}
	select {
	case s.reading <- struct{}{}:
		defer func() { <-s.reading }()
	default:
		retryAfter(w, time.Second)
		refuse(w, r, http.StatusServiceUnavailable, "busy", fmt.Sprintf("%d plans are being read, which is as many as may be: try again in a moment", maxReading))
		return nil
	}
	p, err := a.Sets.Plan(r.Context(), one)
	switch {
	case errors.Is(err, ErrNoPlan), err == nil && p.Hash != one.Status.Plan.Hash:
		refuse(w, r, http.StatusGone, "plan_gone", "plan "+one.Status.Plan.Hash+" of add-on "+one.Name+" is not kept any more: the next look, within minutes, makes it again")
		return nil
	case err != nil:
		return err
	}
	extendDeadline(w, sendPlan)
	if text {
		writeAs(w, "text/plain; charset=utf-8", func(out *bufio.Writer) error { return p.writeText(out, one) })
	} else {
		writeAs(w, contentJSON[0], p.writeJSON)
	}
	return nil
}

func wantsText(query url.Values) (bool, error) {
	for k, values := range query {
		switch {
		case k != "format":
			return false, badRequest("invalid_query", "unknown parameter %q: use format=text or format=json", k)
		case len(values) > 1:
			return false, badRequest("invalid_query", "format is given %d times", len(values))
		case values[0] != "text" && values[0] != "json":
			return false, badRequest("invalid_query", "format must be text or json")
		}
	}
	return query.Get("format") == "text", nil
}

// phaseOf says how an add-on is, and why.
func phaseOf(a *addons.Addon) string {
	v := viewOfAddon(a)
	if v.Message == "" {
		return string(v.Phase)
	}
	return string(v.Phase) + ": " + v.Message
}

// writeAs sends what is too much to be made first.
func writeAs(w http.ResponseWriter, contentType string, write func(*bufio.Writer) error) {
	w.Header().Set("Content-Type", contentType)
	w.Header()["Cache-Control"] = noStore
	w.WriteHeader(http.StatusOK)
	out := bufio.NewWriterSize(w, 64<<10)
	// A client that has gone away needs no answer.
	if write(out) == nil {
		_ = out.Flush()
	}
}

// writeJSON writes the items last and one by one, so that the whole is never there twice.
func (p *Plan) writeJSON(out *bufio.Writer) error {
	head := *p
	head.Hooks = listed(p.Hooks)
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	if _, err := out.Write(text[:len(text)-1]); err != nil { // all but the brace
		return err
	}
	if _, err := io.WriteString(out, `,"items":[`); err != nil {
		return err
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for i := range p.Items {
		if i > 0 {
			if err := out.WriteByte(','); err != nil {
				return err
			}
		}
		if err := encoder.Encode(&p.Items[i]); err != nil {
			return err
		}
	}
	_, err = io.WriteString(out, "]}\n")
	return err
}
