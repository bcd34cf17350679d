package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

// lockedBy makes a proxy ask for the credentials in the Secret of that name.
func lockedBy(name string) func(*crawl.Proxy) {
	return func(p *crawl.Proxy) {
		p.Spec.AuthSecretRef, p.Status.CredentialsVersion = &crawl.LocalSecretRef{Name: name}, storedVersion
	}
}

func secretNamed(name string, edit func(*corev1.Secret)) *corev1.Secret {
	s := authSecret()
	s.Name = name
	edit(s)
	return s
}

func TestAProxyWithoutUsableCredentialsIsPassedOver(t *testing.T) {
	for name, broken := range map[string]*corev1.Secret{
		"no Secret":         nil,
		"no label":          secretNamed("broken", func(s *corev1.Secret) { s.Labels = nil }),
		"no password":       secretNamed("broken", func(s *corev1.Secret) { delete(s.Data, "password") }),
		"no user name":      secretNamed("broken", func(s *corev1.Secret) { s.Data["username"] = nil }),
		"a name with colon": secretNamed("broken", func(s *corev1.Secret) { s.Data["username"] = []byte("c4nary:x") }),
	} {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{proxy("a", lockedBy("broken")), proxy("b", secured), authSecret()}
			if broken != nil {
				objects = append(objects, broken)
			}
			w := newWorld(t, objects...)
			w.lease(`{"target":"shop.example"}`)
			w.lease(`{"target":"shop.example"}`)
			if diff := cmp.Diff(map[string]int{"uid-b": 2}, w.counts()); diff != "" {
				t.Errorf("slots:\n%s", diff)
			}
			if lendable := w.do(http.MethodGet, "/v1/proxies/crawl/a", "").field(t, "lendable"); lendable != true {
				t.Errorf("lendable: %v", lendable)
			}

			r := w.do(http.MethodPost, "/v1/leases", `{"target":"shop.example"}`)
			got := r.object(t)
			message, _ := got["message"].(string)
			for _, part := range []string{"proxy crawl/a ", "Secret crawl/broken", `label crawl.example.com/cloud-init: "true"`, "username and password"} {
				if !strings.Contains(message, part) {
					t.Errorf("no %q in the message %q", part, message)
				}
			}
			delete(got, "message")
			delete(got, "requestID")
			delete(got, "retryAfterSeconds")
			want := map[string]any{"error": "no_match", "considered": 2.0, "atCapacity": 1.0, "inCooldown": 0.0, "unhealthy": 0.0, "draining": 0.0, "unusable": 1.0}
			if diff := cmp.Diff(want, got); diff != "" || r.code != http.StatusConflict {
				t.Errorf("%d\n%s", r.code, diff)
			}
			if strings.Contains(r.text+w.log.String(), "c4nary") {
				t.Errorf("the answer or the log tells a credential:\n%s\n%s", r.text, w.log)
			}

			if broken != nil {
				if err := w.cluster.Delete(t.Context(), broken); err != nil {
					t.Fatal(err)
				}
			}
			mended := secretNamed("broken", func(*corev1.Secret) {})
			if err := w.cluster.Create(t.Context(), mended); err != nil {
				t.Fatal(err)
			}
			w.edit("a", func(p *crawl.Proxy) { p.Status.CredentialsVersion = mended.ResourceVersion })
			w.pass(5 * time.Second)
			w.lease(`{"target":"shop.example"}`) // a mended Secret counts a few seconds later
		})
	}
}

// TestAnInstanceThatAsksForFormerCredentialsIsPassedOver: a lease must not carry a
// password that the proxy does not take yet.
func TestAnInstanceThatAsksForFormerCredentialsIsPassedOver(t *testing.T) {
	w := newWorld(t, proxy("a", secured), authSecret())
	w.lease(`{}`)
	rotated := authSecret()
	if err := w.cluster.Get(t.Context(), client.ObjectKeyFromObject(rotated), rotated); err != nil {
		t.Fatal(err)
	}
	rotated.Data["password"] = []byte("another")
	if err := w.cluster.Update(t.Context(), rotated); err != nil {
		t.Fatal(err)
	}
	r := w.do(http.MethodPost, "/v1/leases", `{}`)
	if r.code != http.StatusConflict || r.field(t, "unusable") != 1.0 || !strings.Contains(r.text, "former credentials") {
		t.Errorf("before the replacement: %d %s", r.code, r.text)
	}
	w.edit("a", func(p *crawl.Proxy) { p.Status.CredentialsVersion = rotated.ResourceVersion })
	w.pass(5 * time.Second)
	w.lease(`{}`)
}

// countingReader counts the Secrets that were read, and may fail.
type countingReader struct {
	client.Reader
	reads atomic.Int32
	err   error
}

func (c *countingReader) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	c.reads.Add(1)
	if c.err != nil {
		return c.err
	}
	return c.Reader.Get(ctx, key, o, opts...)
}

func TestASecretThatManyProxiesLostIsReadOnce(t *testing.T) {
	var objects []client.Object
	for i := range 20 {
		objects = append(objects, proxy(fmt.Sprintf("p%d", i), lockedBy("lost")))
	}
	w := newWorld(t, objects...)
	reader := &countingReader{Reader: w.cluster}
	w.options.Secrets = reader
	w.build()
	r := w.do(http.MethodPost, "/v1/leases", `{}`)
	if r.code != http.StatusConflict || r.field(t, "unusable") != 20.0 || reader.reads.Load() != 1 {
		t.Errorf("%d reads, %d %s", reader.reads.Load(), r.code, r.text)
	}
}

func TestCredentialsThatCannotBeReadNowAreNoReasonToSayNoMatch(t *testing.T) {
	w := newWorld(t, proxy("a", secured), proxy("b", secured), authSecret())
	w.options.Secrets = &countingReader{Reader: w.cluster, err: errors.New("the API server is away")}
	w.build()
	r := w.do(http.MethodPost, "/v1/leases", `{}`)
	if r.code != http.StatusServiceUnavailable || r.field(t, "error") != "credentials_unavailable" || !strings.Contains(r.text, "crawl/a") {
		t.Errorf("%d %s", r.code, r.text)
	}
	if counts := w.counts(); len(counts) != 0 {
		t.Errorf("a slot is held: %v", counts)
	}
	if !strings.Contains(w.log.String(), "the API server is away") || strings.Contains(r.text, "away") {
		t.Errorf("the cause belongs in the log, not in the answer %s", r.text)
	}
}

func TestAFleetThatChangesWhileItIsLent(t *testing.T) {
	many := func(p *crawl.Proxy) { p.Spec.MaxLeases = 10000 }
	a, b := proxy("a", many), proxy("b", many)
	w := newWorld(t, a, b)
	var wg sync.WaitGroup
	ended := make(chan struct{})
	go func() { // one of the two is there at any time
		defer close(ended)
		for i := range 200 {
			in, out := a, b
			if i%2 == 1 {
				in, out = b, a
			}
			w.events.handler.OnAdd(in, false)
			w.events.handler.OnDelete(out)
		}
	}()
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if r := w.do(http.MethodPost, "/v1/leases", `{}`); r.code != http.StatusCreated {
					t.Errorf("%d %s", r.code, r.text)
				}
			}
		})
	}
	wg.Wait()
	<-ended
}

func TestAFieldThatIsNullIsLeftOut(t *testing.T) {
	w := newWorld(t, proxy("demo"))
	w.fuzzed = true // the document advertises no null
	if r := w.acquire(`{"selector":null,"ttlSeconds":null,"target":null,"session":null,"count":null,"waitSeconds":null}`); r.code != http.StatusCreated {
		t.Errorf("%d %s", r.code, r.text)
	} else if seconds := r.field(t, "ttlSeconds"); seconds != 300.0 {
		t.Errorf("it lasts %v s, want the default, 300", seconds)
	}
}
