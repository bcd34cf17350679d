package render

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// Lookup reads an object, or without a name the list of all. It returns nil if there is none.
// A namespace is ignored for kinds that have none.
type Lookup func(ctx context.Context, q Question) (map[string]any, error)

// Question is what a template looks up.
type Question struct {
	APIVersion, Kind, Namespace, Name string
}

// Answer is what a template was told.
type Answer struct {
	Question

	// Digest of the object by Request.Hash; empty if there was none. What the API server
	// counts and books in metadata is not in it: that moves with every write.
	Digest string
}

// Ask asks q as a template would. If the answer is not the one that was kept of a render,
// what templates were told then is true no more.
func (r Request) Ask(ctx context.Context, q Question) (Answer, error) {
	_, answer, err := r.ask(ctx, q)
	return answer, err
}

func (r Request) ask(ctx context.Context, q Question) (map[string]any, Answer, error) {
	object, err := r.Lookup(ctx, q)
	if err != nil {
		return nil, Answer{}, fmt.Errorf("look up %s %s %s/%s: %w", q.APIVersion, q.Kind, q.Namespace, q.Name, err)
	}
	if object == nil {
		return nil, Answer{Question: q}, nil
	}
	data, err := json.Marshal(withoutBookkeeping(object))
	if err != nil {
		return nil, Answer{}, fmt.Errorf("digest of %s %s/%s: %w", q.Kind, q.Namespace, q.Name, err)
	}
	return object, Answer{Question: q, Digest: r.Hash(data)}, nil
}

// recorder asks each question once, so that all templates see one state of the cluster, and
// remembers what the answers were.
type recorder struct {
	ctx   context.Context //nolint:containedctx // templates have none to pass
	req   Request
	known map[Question]map[string]any
	asked map[Question]Answer
}

func newRecorder(ctx context.Context, req Request) *recorder {
	return &recorder{ctx: ctx, req: req, known: map[Question]map[string]any{}, asked: map[Question]Answer{}}
}

// answers are in the order of their questions.
func (r *recorder) answers() []Answer {
	return slices.SortedFunc(maps.Values(r.asked), func(a, b Answer) int {
		return cmp.Or(cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

func (r *recorder) ask(q Question) (*unstructured.Unstructured, error) {
	object, ok := r.known[q]
	if !ok {
		var answer Answer
		var err error
		if object, answer, err = r.req.ask(r.ctx, q); err != nil {
			return nil, err
		}
		r.known[q], r.asked[q] = object, answer
	}
	if object == nil { // which Helm makes an empty object of
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: q.Kind}, q.Name)
	}
	return &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)}, nil // templates may change it
}

// withoutBookkeeping is an object, or a list of them, less the metadata that moves while what
// it says stays. object is not changed.
func withoutBookkeeping(object map[string]any) map[string]any {
	object = maps.Clone(object)
	if metadata, ok := object["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		for _, field := range []string{"resourceVersion", "managedFields", "generation"} {
			delete(metadata, field)
		}
		object["metadata"] = metadata
	}
	if items, ok := object["items"].([]any); ok {
		items = slices.Clone(items)
		for i := range items {
			if item, ok := items[i].(map[string]any); ok {
				items[i] = withoutBookkeeping(item)
			}
		}
		object["items"] = items
	}
	return object
}

// GetClientFor makes the recorder what Helm's engine takes for a cluster. Helm asks with the
// namespace only where this says that the kind has one.
func (r *recorder) GetClientFor(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	return lookupClient{recorder: r, about: Question{APIVersion: apiVersion, Kind: kind}}, true, nil
}

// lookupClient has the three methods that Helm's engine calls; the others are nil.
type lookupClient struct {
	dynamic.NamespaceableResourceInterface

	recorder *recorder
	about    Question
}

func (c lookupClient) Namespace(namespace string) dynamic.ResourceInterface {
	c.about.Namespace = namespace
	return c
}

func (c lookupClient) Get(_ context.Context, name string, _ metav1.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	c.about.Name = name
	return c.recorder.ask(c.about)
}

func (c lookupClient) List(context.Context, metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	object, err := c.recorder.ask(c.about)
	if err != nil {
		return nil, err
	}
	items, err := object.ToList()
	if err != nil {
		return nil, fmt.Errorf("look up %s %s: %w", c.about.APIVersion, c.about.Kind, err)
	}
	return items, nil
}
