package server

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
)

// problem is the answer to a request that was refused. Message says what is wrong
// and what to do.
type problem struct {
	Error     string `json:"error"`
	Message   string `json:"message"`
	RequestID string `json:"requestID,omitempty"`
	// RetryAfterSeconds is when something is known to change; the header says it too.
	RetryAfterSeconds int64 `json:"retryAfterSeconds,omitempty"`
}

// noMatch is the problem of a lease that nothing can be lent for; the other five
// counts sum up to Considered.
type noMatch struct {
	problem

	Considered int `json:"considered"`
	AtCapacity int `json:"atCapacity"`
	InCooldown int `json:"inCooldown"`
	Unhealthy  int `json:"unhealthy"`
	Draining   int `json:"draining"`
	Unusable   int `json:"unusable"`
}

// Set as they are sent: canonical, and shared by all answers.
var (
	contentJSON = []string{"application/json"}
	noStore     = []string{"no-store"}
)

func answer(w http.ResponseWriter, _ *http.Request, code int, body any) {
	h := w.Header()
	h["Content-Type"] = contentJSON
	h["Cache-Control"] = noStore // a lease carries credentials
	w.WriteHeader(code)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false) // nobody puts these answers into a page
	// A client that has gone away needs no answer.
	_ = encoder.Encode(body)
}

func refuse(w http.ResponseWriter, r *http.Request, code int, word, message string) {
	answer(w, r, code, problem{Error: word, Message: message, RequestID: requestID(r.Context())})
}

// retryAfter sets the header of that name, and returns its seconds.
func retryAfter(w http.ResponseWriter, d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	seconds := int64((d + time.Second - 1) / time.Second)
	w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
	return seconds
}

func notFound(w http.ResponseWriter, r *http.Request) {
	refuse(w, r, http.StatusNotFound, "not_found", "there is nothing at "+r.URL.Path+": GET /openapi.yaml lists what there is")
}

// methodNotAllowed names the methods that are: chi's own answer does, but not in
// JSON. A method that chi does not know comes here whatever the path.
func methodNotAllowed(routes chi.Routes) http.HandlerFunc {
	methods := []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	return func(w http.ResponseWriter, r *http.Request) {
		path := cmp.Or(r.URL.RawPath, r.URL.Path) // which chi routes by
		var allowed []string
		for _, m := range methods {
			if !routes.Match(chi.NewRouteContext(), m, path) {
				continue
			}
			allowed = append(allowed, m)
			if m == http.MethodGet {
				allowed = append(allowed, http.MethodHead)
			}
		}
		if len(allowed) == 0 {
			notFound(w, r)
			return
		}
		allow := strings.Join(allowed, ", ")
		w.Header().Set("Allow", allow)
		refuse(w, r, http.StatusMethodNotAllowed, "method_not_allowed", r.Method+" is not for "+r.URL.Path+": use "+allow)
	}
}
