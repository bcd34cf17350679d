package replace_test

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"example.com/fairlead/api/crawl/replace"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/kube"
	"example.com/fairlead/temporal/wire"
)

// outrun is a client before whose first patch somebody else writes.
type outrun struct {
	client.Client
	first func(ctx context.Context, c client.Client) error
}

func (o *outrun) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if first := o.first; first != nil {
		o.first = nil
		if err := first(ctx, o.Client); err != nil {
			return err
		}
	}
	return o.Client.Patch(ctx, obj, patch, opts...)
}

func stored(t *testing.T) (client.Client, *crawl.Proxy) {
	t.Helper()
	scheme, err := kube.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	p := &crawl.Proxy{ObjectMeta: metav1.ObjectMeta{Namespace: "crawlers", Name: "demo", UID: "u1"}}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(p).Build()
	return c, read(t, c)
}

func read(t *testing.T, c client.Client) *crawl.Proxy {
	t.Helper()
	var p crawl.Proxy
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "crawlers", Name: "demo"}, &p); err != nil {
		t.Fatal(err)
	}
	return &p
}

// annotate writes as somebody else.
func annotate(key, value string) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error {
		var p crawl.Proxy
		if err := c.Get(ctx, client.ObjectKey{Namespace: "crawlers", Name: "demo"}, &p); err != nil {
			return err
		}
		p.Annotations = map[string]string{key: value}
		return c.Update(ctx, &p)
	}
}

func TestWriteMeetsTheObjectThatWasRead(t *testing.T) {
	c, p := stored(t)
	if err := replace.Write(t.Context(), c, p, "first"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, c); got.Annotations[crawl.AnnotationReplace] != "first" || got.ResourceVersion != p.ResourceVersion {
		t.Errorf("stored %v at version %s, returned version %s", got.Annotations, got.ResourceVersion, p.ResourceVersion)
	}
	racing := &outrun{Client: c, first: annotate(crawl.AnnotationReplace, "by hand")}
	if err := replace.Write(t.Context(), racing, p, "second"); !apierrors.IsConflict(err) {
		t.Errorf("over a wish that came in between: %v", err)
	}
	if got := read(t, c).Annotations[crawl.AnnotationReplace]; got != "by hand" {
		t.Errorf("the wish that came in between is %q now", got)
	}
}

func TestAskLooksAgainAfterAnotherWrite(t *testing.T) {
	c, _ := stored(t)
	racing := &outrun{Client: c, first: annotate("example.com/other", "kept")}
	key := client.ObjectKey{Namespace: "crawlers", Name: "demo"}
	p, err := replace.Ask(t.Context(), racing, key, "u1", "first")
	if err != nil || p.Annotations[crawl.AnnotationReplace] != "first" {
		t.Fatalf("asked: %v, %v", p, err)
	}
	if got := read(t, c).Annotations; got["example.com/other"] != "kept" || got[crawl.AnnotationReplace] != "first" {
		t.Errorf("stored: %v", got)
	}
	if _, err := replace.Ask(t.Context(), c, key, "another", "second"); !errors.Is(err, replace.ErrGone) {
		t.Errorf("another object of that name: %v", err)
	}
}

// TestLimit holds the wire package's limit to the API type's.
func TestLimit(t *testing.T) {
	if wire.MaxReplaceValue != crawl.MaxReplaceValue {
		t.Errorf("wire says %d, the API type %d", wire.MaxReplaceValue, crawl.MaxReplaceValue)
	}
}
