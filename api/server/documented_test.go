package server_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// documentedRoutes are those of the OpenAPI document, which must be a good one.
var documentedRoutes = sync.OnceValues(func() (routers.Router, error) {
	text, err := os.ReadFile("openapi.yaml")
	if err != nil {
		return nil, err
	}
	d, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, err
	}
	if err := d.Validate(context.Background(), openapi3.IsOpenAPI31OrLater()); err != nil {
		return nil, err
	}
	d.Servers = nil // tests serve elsewhere
	return gorillamux.NewRouter(d)
})

// asDocumented fails the test unless the answer to a request of a documented route is
// what the document says, and the request too if it was granted.
func asDocumented(t testing.TB, r *http.Request, body string, got reply) {
	t.Helper()
	known, err := documentedRoutes()
	if err != nil {
		t.Fatalf("openapi.yaml: %v", err)
	}
	route, parameters, err := known.FindRoute(r)
	if err != nil { // so it is refused as not found, which other tests look at
		return
	}
	asked := &openapi3filter.RequestValidationInput{
		Request: r, PathParams: parameters, Route: route,
		Options: &openapi3filter.Options{
			AuthenticationFunc:    openapi3filter.NoopAuthenticationFunc,
			IncludeResponseStatus: true,
		},
	}
	if got.code < http.StatusMultipleChoices {
		r.Body = io.NopCloser(strings.NewReader(body))
		if err := openapi3filter.ValidateRequest(t.Context(), asked); err != nil {
			t.Errorf("%s %s was granted, but is not documented: %v", r.Method, r.URL, err)
		}
	}
	if r.Method == http.MethodHead {
		return
	}
	answered := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: asked, Status: got.code, Header: got.header, Body: io.NopCloser(strings.NewReader(got.text)), Options: asked.Options,
	}
	if err := openapi3filter.ValidateResponse(t.Context(), answered); err != nil {
		t.Errorf("%s %s: the answer %d %.300s is not documented: %v", r.Method, r.URL, got.code, got.text, err)
	}
}
