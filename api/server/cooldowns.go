package server

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"example.com/fairlead/api/lease"
)

// cooldownView is why a proxy is not lent for a target.
type cooldownView struct {
	// Target is empty for leases without one.
	Target  string       `json:"target"`
	Result  lease.Result `json:"result"`
	Until   time.Time    `json:"until"`
	Strikes int          `json:"strikes"`
	Trial   bool         `json:"trial"`
}

type restRequest struct {
	Target  string `json:"target"`
	Seconds int64  `json:"seconds"`
}

func (b restRequest) validate() error {
	if b.Seconds < 1 || b.Seconds > maxRest {
		return badRequest("invalid_body", "seconds must be between 1 and %d", maxRest)
	}
	return nil
}

func cooldownOf(c lease.Cooldown) cooldownView {
	return cooldownView{Target: c.Target, Result: c.Result, Until: c.Until.UTC(), Strikes: c.Strikes, Trial: c.Trial}
}

// rest keeps a proxy from being lent for a target.
func (s *server) rest(w http.ResponseWriter, r *http.Request, e *lease.Engine) {
	var body restRequest
	err := operatorOnly(r, "make proxies rest")
	if err == nil {
		err = decode(r, &body)
	}
	if err == nil {
		err = body.validate()
	}
	var target string
	if err == nil {
		target, err = targetOf(body.Target)
	}
	var c lease.Cooldown
	if err == nil {
		c, err = e.Rest(r.Context(), s.uidOf(r), target, time.Duration(body.Seconds)*time.Second)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	answer(w, r, http.StatusCreated, cooldownOf(c))
}

// clear ends cooldowns: that of one target, or all.
func (s *server) clear(w http.ResponseWriter, r *http.Request, e *lease.Engine) {
	var target *string
	err := operatorOnly(r, "end cooldowns")
	if err == nil {
		target, err = onlyTarget(r.URL.Query())
	}
	if err == nil {
		err = e.Clear(r.Context(), s.uidOf(r), target)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// uidOf is the UID of the proxy that the path names; empty, which no proxy has, if there
// is none.
func (s *server) uidOf(r *http.Request) string {
	if p := s.fleet.named(pathPart(r, "namespace"), pathPart(r, "name")); p != nil {
		return string(p.UID)
	}
	return ""
}

// onlyTarget reads the one parameter that there is.
func onlyTarget(query url.Values) (*string, error) {
	for _, k := range slices.Sorted(maps.Keys(query)) {
		if k != "target" {
			return nil, badRequest("invalid_query", "unknown parameter %q: use target=<host>, or none to end all cooldowns", k)
		}
	}
	values := query["target"]
	if len(values) == 0 {
		return nil, nil
	}
	if len(values) > 1 {
		return nil, badRequest("invalid_query", "target is given %d times", len(values))
	}
	target, err := hostOf(values[0])
	if err != nil {
		return nil, badRequest("invalid_query", "target %v", err)
	}
	return &target, nil
}
