package starter

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"example.com/fairlead/api/crawl/ref"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// resend is how long a signal has to show in the object's status before it is
// sent again.
const resend = time.Minute

func realNow() time.Time { return time.Now() }

// watch compares each object's inputs with those its status speaks of.
type watch struct {
	reader    client.Reader
	signaller *Signaller
	now       func() time.Time

	mu sync.Mutex
	// sent holds, by UID, what was signalled and is not in the status yet, so that
	// the workflow's own writes do not wake it again.
	sent map[string]sent
}

type sent struct {
	inputs string
	at     time.Time
}

// Reconcile wakes the workflow of key when the object has inputs that its status
// does not speak of.
func (w *watch) Reconcile(ctx context.Context, key wire.ProxyRef) (reconcile.Result, error) {
	var p crawl.Proxy
	err := w.reader.Get(ctx, types.NamespacedName{Namespace: key.Namespace, Name: key.Name}, &p)
	switch {
	case apierrors.IsNotFound(err), err == nil && string(p.UID) != key.UID:
		w.forget(key.UID)
		return reconcile.Result{}, w.signaller.Gone(ctx, key)
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("read Proxy %s: %w", key, err)
	}
	if p.Released() {
		w.forget(key.UID) // others hold it back; our part is done
		return reconcile.Result{}, w.signaller.Gone(ctx, key)
	}
	inputs, err := w.inputs(ctx, &p)
	if err != nil {
		return reconcile.Result{}, err
	}
	if inputs == p.Status.ObservedInputs {
		w.forget(key.UID)
		return reconcile.Result{}, nil
	}
	if rest := w.pending(key.UID, inputs); rest > 0 {
		return reconcile.Result{RequeueAfter: rest}, nil
	}
	if err := w.signaller.Changed(ctx, key); err != nil {
		return reconcile.Result{}, err
	}
	w.remember(key.UID, inputs)
	return reconcile.Result{RequeueAfter: resend}, nil
}

func (w *watch) inputs(ctx context.Context, p *crawl.Proxy) (string, error) {
	versions := map[string]string{}
	for _, name := range p.SecretNames() {
		s := SecretMetadata()
		err := w.reader.Get(ctx, types.NamespacedName{Namespace: p.Namespace, Name: name}, s)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return "", fmt.Errorf("read the version of Secret %s/%s: %w", p.Namespace, name, err)
		default:
			versions[name] = s.ResourceVersion
		}
	}
	return p.Inputs(versions), nil
}

// pending is how long the signal about these inputs still has to take effect.
func (w *watch) pending(uid, inputs string) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, ok := w.sent[uid]
	if !ok || s.inputs != inputs {
		return 0
	}
	return resend - w.now().Sub(s.at)
}

func (w *watch) remember(uid, inputs string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent[uid] = sent{inputs: inputs, at: w.now()}
}

func (w *watch) forget(uid string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.sent, uid)
}

// ofSecret names the Proxies that refer to a Secret.
func (w *watch) ofSecret(ctx context.Context, s *metav1.PartialObjectMetadata) []wire.ProxyRef {
	var list crawl.ProxyList
	// A list from the cache fails only while the manager stops.
	if err := w.reader.List(ctx, &list, client.InNamespace(s.Namespace), client.MatchingFields{secretIndex: s.Name}); err != nil {
		return nil
	}
	var refs []wire.ProxyRef
	for i := range list.Items {
		refs = append(refs, ref.Of(&list.Items[i]))
	}
	return refs
}
