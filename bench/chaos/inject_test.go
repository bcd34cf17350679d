package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

// backend notes when it was asked to create.
type backend struct {
	provider.Provider
	creates chan time.Time
}

func (b *backend) Create(ctx context.Context, _ provider.Request) (provider.Instance, error) {
	b.creates <- time.Now()
	return provider.Instance{State: provider.Running}, ctx.Err()
}

// oneObject is an API server with at most one Proxy.
type oneObject struct {
	client.Reader
	p *crawl.Proxy
}

func (o oneObject) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if o.p == nil {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "proxies"}, key.Name)
	}
	o.p.DeepCopyInto(into.(*crawl.Proxy))
	return nil
}

func newInjector(t *testing.T, live client.Reader) (*injector, *backend) {
	t.Helper()
	calls, err := openCallLog(filepath.Join(t.TempDir(), "calls.log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = calls.file.Close() })
	b := &backend{creates: make(chan time.Time, 8)}
	return &injector{Provider: b, name: "red", seed: 1, calls: calls, live: live}, b
}

// whoseFirst finds a life whose first Create fails so.
func whoseFirst(t *testing.T, f fault) string {
	t.Helper()
	for i := range 10_000 {
		if who := fmt.Sprintf("%d.1", i); faultOf(1, who, methodCreate, 0) == f {
			return who
		}
	}
	t.Fatalf("no first Create fails so: %s", f)
	return ""
}

func requestOf(who string) provider.Request {
	return provider.Request{
		ID: provider.ID{Place: "/state", Name: "proxy-a"}, Owner: provider.Owner{Namespace: "chaos", Name: "c", UID: "u"}, Incarnation: 3,
		Spec: crawl.ProxySpec{Attributes: map[string]string{attributeWho: who}},
	}
}

func TestCreateFails(t *testing.T) {
	tests := []struct {
		fault fault
		class error
		calls int // that reach the backend
	}{
		{faultNone, nil, 1},
		{faultReplyLost, provider.ErrTransient, 1},
		{faultRefused, provider.ErrTransient, 0},
		{faultBusy, provider.ErrBusy, 0},
		{faultQuota, provider.ErrQuotaExceeded, 0},
		{faultPermanent, provider.ErrPermanent, 0},
	}
	for _, tt := range tests {
		t.Run(string(tt.fault), func(t *testing.T) {
			p, b := newInjector(t, oneObject{})
			_, err := p.Create(t.Context(), requestOf(whoseFirst(t, tt.fault)))
			if class := provider.Class(err); !errors.Is(class, tt.class) || len(b.creates) != tt.calls {
				t.Errorf("it ended with %v, after %d calls of the backend", err, len(b.creates))
			}
		})
	}
}

func TestALostAttemptLandsWithinItsDeadline(t *testing.T) {
	p, b := newInjector(t, oneObject{})
	deadline := time.Now().Add(1200 * time.Millisecond)
	ctx, cancel := context.WithDeadline(t.Context(), deadline)
	_, err := p.Create(ctx, requestOf(whoseFirst(t, faultLandsLate)))
	cancel() // as the activity does when the call returns
	if !errors.Is(provider.Class(err), provider.ErrTransient) || len(b.creates) != 0 {
		t.Fatalf("the attempt ended with %v, after %d calls of the backend", err, len(b.creates))
	}
	select {
	case at := <-b.creates:
		if at.After(deadline) {
			t.Errorf("it landed %s after the deadline", at.Sub(deadline))
		}
	case <-time.After(10 * time.Second):
		t.Error("it never landed")
	}
}

func TestACreateIsHeldToTheLedger(t *testing.T) {
	deadline := time.Now().Add(time.Minute)
	until := metav1.NewTime(deadline.Add(30 * time.Second))
	short := metav1.NewTime(deadline.Add(-time.Second))
	entry := crawl.InstanceRecord{Provider: "red", Place: "/state", Name: "proxy-a", Incarnation: 3, AttemptUntil: &until}
	object := func(change func(p *crawl.Proxy, e *crawl.InstanceRecord)) *crawl.Proxy {
		e := entry
		p := &crawl.Proxy{ObjectMeta: metav1.ObjectMeta{UID: types.UID("u")}}
		change(p, &e)
		p.Status.Instances = []crawl.InstanceRecord{e}
		return p
	}
	tests := []struct {
		name  string
		p     *crawl.Proxy
		wrong bool
	}{
		{"the entry is there", object(func(*crawl.Proxy, *crawl.InstanceRecord) {}), false},
		{"the object is gone", nil, true},
		{"another object has the name", object(func(p *crawl.Proxy, _ *crawl.InstanceRecord) { p.UID = "v" }), true},
		{"the entry is of another incarnation", object(func(_ *crawl.Proxy, e *crawl.InstanceRecord) { e.Incarnation = 2 }), true},
		{"the entry is of another provider", object(func(_ *crawl.Proxy, e *crawl.InstanceRecord) { e.Provider = "blue" }), true},
		{"no attempt should be running", object(func(_ *crawl.Proxy, e *crawl.InstanceRecord) { e.AttemptUntil = nil }), true},
		{"the attempt may run for too long", object(func(_ *crawl.Proxy, e *crawl.InstanceRecord) { e.AttemptUntil = &short }), true},
		{"the instance may be left behind", object(func(p *crawl.Proxy, e *crawl.InstanceRecord) {
			p.Annotations = map[string]string{crawl.AnnotationSkipCleanup: "true"}
			e.Incarnation = 2
		}), false},
	}
	ctx, cancel := context.WithDeadline(t.Context(), deadline)
	defer cancel()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := newInjector(t, oneObject{p: tt.p})
			if wrong, err := p.ledgerLacks(ctx, requestOf("1.1"), entry); (wrong != "") != tt.wrong || err != nil {
				t.Errorf("the verdict is %q, %v", wrong, err)
			}
		})
	}
}

// down is an API server that does not answer.
type down struct{ client.Reader }

func (down) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.New("connection refused")
}

func TestACreateThatNobodyCouldHoldToTheLedgerIsLogged(t *testing.T) {
	p, b := newInjector(t, down{})
	if _, err := p.Create(t.Context(), requestOf(whoseFirst(t, faultNone))); err != nil || len(b.creates) != 1 {
		t.Fatalf("the attempt ended with %v, after %d calls of the backend", err, len(b.creates))
	}
	calls, _, err := readCalls(io.NewSectionReader(p.calls.file, 0, 1<<20))
	if err != nil || len(calls) != 2 || calls[1].Unchecked == nil {
		t.Fatalf("the log has %+v, %v", calls, err)
	}
	want := crawl.InstanceRecord{Provider: "red", Place: "/state", Name: "proxy-a", Incarnation: 3}
	if diff := cmp.Diff(want, *calls[1].Unchecked); diff != "" {
		t.Errorf("the entry to look for (-want +got):\n%s", diff)
	}
}
