package server

import (
	"errors"
	"net/http"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/api/lease/desk"
)

// lending is the handler of a route that needs the leases: where this process lends, h
// answers, else the process that does.
func (s *server) lending(h func(http.ResponseWriter, *http.Request, *lease.Engine)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		e, err := s.Desk.Engine()
		if err == nil {
			h(w, r, e)
			return
		}
		var notLeading *desk.NotLeadingError
		// What was forwarded is not forwarded again: two that each take the other for the
		// leader would do so for ever.
		if errors.As(err, &notLeading) && notLeading.URL != "" && r.Header.Get(forwardedHeader) == "" {
			s.forward.to(notLeading.URL, w, r)
			return
		}
		s.fail(w, r, err)
	}
}
