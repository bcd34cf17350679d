package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"
	kjson "sigs.k8s.io/json"
)

// invalid is a request that its client has to correct.
type invalid struct {
	code    int
	word    string
	message string
}

func (e *invalid) Error() string { return e.message }

func badRequest(word, format string, args ...any) *invalid {
	return &invalid{http.StatusBadRequest, word, fmt.Sprintf(format, args...)}
}

// decode reads the JSON body of r into v: strictly, since a misspelt field that is
// ignored grants another lease than was asked for.
func decode(r *http.Request, v any) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	return decodeAs(r.Header.Get("Content-Type"), body, v)
}

// decodeIfAny leaves v alone when there is no body. Only reading tells: one that
// comes in chunks has no length.
func decodeIfAny(r *http.Request, v any) error {
	body, err := readBody(r)
	if err != nil || len(body) == 0 {
		return err
	}
	return decodeAs(r.Header.Get("Content-Type"), body, v)
}

func readBody(r *http.Request) ([]byte, error) {
	body, err := readAll(r)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, bodyTooLarge(tooLarge)
	case err != nil:
		return nil, badRequest("invalid_body", "the body broke off: send it again")
	}
	return body, nil
}

// usualBody is as long as nearly no body is.
const usualBody = 4 << 10

// readAll takes no more memory than a short body, that says how long it is. A long one takes
// it as it comes: many clients may announce one that never does.
func readAll(r *http.Request) ([]byte, error) {
	if r.ContentLength < 0 || r.ContentLength > usualBody {
		return io.ReadAll(r.Body)
	}
	body := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, body)
	return body, err
}

func bodyTooLarge(err *http.MaxBytesError) *invalid {
	return &invalid{http.StatusRequestEntityTooLarge, "body_too_large", fmt.Sprintf("the body may have %d bytes at most", err.Limit)}
}

const mediaType = "application/json"

func decodeAs(contentType string, body []byte, v any) error {
	if contentType == mediaType { // as nearly all send it
		return decodeJSON(body, v)
	}
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil || kind != mediaType {
		return &invalid{http.StatusUnsupportedMediaType, "unsupported_media_type", "send JSON, with the header Content-Type: application/json"}
	}
	return decodeJSON(body, v)
}

func decodeJSON(body []byte, v any) error {
	text := bytes.TrimSpace(body)
	switch {
	case !utf8.Valid(text):
		return badRequest("invalid_body", "the body is not UTF-8")
	case len(text) == 0 || text[0] != '{':
		return badRequest("invalid_body", "the body must be a JSON object, such as {}")
	}
	strict, err := kjson.UnmarshalStrict(text, v)
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrongType):
		return badRequest("invalid_body", "%s must not be a JSON %s", fieldOr(wrongType.Field), wrongType.Value)
	case err != nil:
		return badRequest("invalid_body", "the body is not JSON: %v", err)
	case len(strict) > 0:
		return badRequest("invalid_body", "%v", misspelt(strict, v))
	}
	return nil
}

func fieldOr(field string) string {
	if field == "" {
		return "the body"
	}
	return field
}

// pathPart is a parameter of the route as its client meant it: of a path with
// unusual escapes, chi hands over the parts as they came.
func pathPart(r *http.Request, name string) string {
	raw := chi.URLParam(r, name)
	if r.URL.RawPath == "" { // decoded already
		return raw
	}
	if part, err := url.PathUnescape(raw); err == nil {
		return part
	}
	return raw
}

const maxName = 253

// checkName refuses what no attribute and no session can be.
func checkName(field, value string) error {
	switch {
	case len(value) > maxName:
		return badRequest("invalid_body", "%s is longer than %d bytes", field, maxName)
	case strings.ContainsFunc(value, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }):
		return badRequest("invalid_body", "%s must not have spaces or control characters", field)
	}
	return nil
}
