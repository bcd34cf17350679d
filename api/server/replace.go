package server

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/api/crawl/ref"
	"example.com/fairlead/api/crawl/replace"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// Objects is all that the API does to Proxy objects past the cache: it reads one,
// and patches its annotation.
type Objects interface {
	Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error
	Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error
}

const (
	// valueTime and valueChars make the part of a value that never was.
	valueTime  = "20060102T150405Z-"
	valueChars = 8 // of 5 random bits
	// maxReason is what the value has room for after that and a space, in bytes.
	maxReason = crawl.MaxReplaceValue - len(valueTime) - valueChars - len(" ")
	// writeObject bounds a write to the Kubernetes API.
	writeObject = 10 * time.Second
)

type replaceRequest struct {
	Reason string `json:"reason"`
}

// replaceAnswer says where the replacement can be followed, and by which value of
// the annotation it is known in status.observedReplace.
type replaceAnswer struct {
	WorkflowID string `json:"workflowID"`
	Replace    string `json:"replace"`
}

func (b replaceRequest) validate() error {
	switch {
	case len(b.Reason) > maxReason:
		return badRequest("invalid_body", "reason has %d bytes, at most %d are allowed", len(b.Reason), maxReason)
	case strings.ContainsFunc(b.Reason, func(r rune) bool { return !unicode.IsPrint(r) }):
		return badRequest("invalid_body", "reason must be one line, without control characters")
	}
	return nil
}

func (s *server) replace(w http.ResponseWriter, r *http.Request) {
	namespace, name := pathPart(r, "namespace"), pathPart(r, "name")
	p, value, err := s.replaced(r, namespace, name)
	switch {
	case err == nil:
		answer(w, r, http.StatusAccepted, replaceAnswer{WorkflowID: wire.ProxyID(ref.Of(p)), Replace: value})
	case errors.Is(err, replace.ErrGone):
		unknownProxy(w, r, namespace, name)
	case errors.Is(err, replace.ErrDeleting):
		refuse(w, r, http.StatusConflict, "being_deleted", "proxy "+namespace+"/"+name+" is being deleted: there will be no other instance")
	case errors.Is(err, replace.ErrExternal):
		refuse(w, r, http.StatusConflict, "not_managed", "proxy "+namespace+"/"+name+" is External: whoever runs it must replace it")
	default:
		s.fail(w, r, err)
	}
}

func (s *server) replaced(r *http.Request, namespace, name string) (*crawl.Proxy, string, error) {
	if err := operatorOnly(r, "replace proxies"); err != nil {
		return nil, "", err
	}
	var body replaceRequest
	if err := decodeIfAny(r, &body); err != nil {
		return nil, "", err
	}
	if err := body.validate(); err != nil {
		return nil, "", err
	}
	if len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return nil, "", replace.ErrGone // no object can have such a name
	}
	value := strings.TrimSpace(newReplaceValue(time.Now()) + " " + body.Reason)
	ctx, cancel := context.WithTimeout(r.Context(), writeObject)
	defer cancel()
	p, err := replace.Ask(ctx, s.Objects, client.ObjectKey{Namespace: namespace, Name: name}, "", value)
	return p, value, err
}

// newReplaceValue is one that never was: two who ask in the same second both get
// what they asked for.
func newReplaceValue(now time.Time) string {
	return now.UTC().Format(valueTime) + strings.ToLower(rand.Text()[:valueChars])
}
