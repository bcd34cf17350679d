package server

import (
	"context"
	"net/http"
	"time"
)

// extendDeadlines lets a request wait for longer than the server's timeouts, which
// still guard against slow clients: what comes after the wait has as long as ever. The
// deadline for reading counts too, since a read that fails is how a client that went
// away is noticed.
func extendDeadlines(w http.ResponseWriter, wait time.Duration) {
	c := http.NewResponseController(w)
	until := time.Now().Add(wait + writeTimeout)
	// A writer without deadlines has none that could be too short.
	_ = c.SetReadDeadline(until)
	_ = c.SetWriteDeadline(until)
}

func withValue(r *http.Request, key, value any) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), key, value))
}
