package main

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// verdict is what kind of promise was broken.
type verdict string

const (
	leaked    verdict = "leaked"
	duplicate verdict = "duplicate"
	stuck     verdict = "stuck"
	broken    verdict = "broken" // another promise
)

// violation is a broken promise.
type violation struct {
	verdict verdict
	uid     string // of the object; empty when it is about none
	what    string
}

func (v *violation) Error() string { return string(v.verdict) + ": " + v.what }

// saw takes in an object as it is, or was a moment ago, and holds it to what it was
// before. What left the ledger may not come back, so an instance that is there now
// was there, or came, after it was told to be gone.
func (o *observer) saw(p *crawl.Proxy) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.subject(p)
	was := s.now
	s.now = p
	for _, e := range p.Status.Instances {
		s.entries[identity(e)] = true
	}
	if p.SkipsCleanup() {
		s.abandoned = true
	}
	o.tell(s, "object  %s", brief(p))
	defer o.wake()
	if p.Status.Sequence < was.Status.Sequence {
		o.fail(&violation{broken, s.ref.UID, fmt.Sprintf("status.sequence went from %d back to %d", was.Status.Sequence, p.Status.Sequence)})
	}
	if s.abandoned {
		return
	}
	for _, e := range was.Status.Instances {
		if entryOf(&p.Status, e) != nil {
			continue
		}
		if i, found := readInstance(e.Provider, o.stateDirs[e.Provider], e.Name); found && i.uid == s.ref.UID && i.entry() == identity(e) {
			o.fail(&violation{leaked, s.ref.UID, "the ledger lost an entry while there is " + i.String()})
		}
	}
	if controllerutil.ContainsFinalizer(was, crawl.Finalizer) && !controllerutil.ContainsFinalizer(p, crawl.Finalizer) {
		o.mustHaveNone(s, "the finalizer is off")
	}
}

// sawGone takes in that an object is gone.
func (o *observer) sawGone(p *crawl.Proxy) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.subject(p)
	s.gone = true
	o.tell(s, "object  gone")
	defer o.wake()
	if p.SkipsCleanup() {
		s.abandoned = true
	}
	if !s.abandoned {
		o.mustHaveNone(s, "the object is gone")
	}
}

// mustHaveNone fails when an instance of the subject is there.
func (o *observer) mustHaveNone(s *subject, since string) {
	for prov, dir := range o.stateDirs {
		if i, found := readInstance(prov, dir, provider.InstanceName(s.ref.UID)); found && i.uid == s.ref.UID {
			o.fail(&violation{leaked, s.ref.UID, since + " while there is " + i.String()})
		}
	}
}

// identity is what tells the entry of one instance from that of another.
func identity(e crawl.InstanceRecord) crawl.InstanceRecord {
	return crawl.InstanceRecord{Provider: e.Provider, Place: e.Place, Name: e.Name, Incarnation: e.Incarnation}
}

// entryOf is that of the same instance as e in the ledger, or nil.
func entryOf(s *crawl.ProxyStatus, e crawl.InstanceRecord) *crawl.InstanceRecord {
	for i := range s.Instances {
		if identity(s.Instances[i]) == identity(e) {
			return &s.Instances[i]
		}
	}
	return nil
}

// inLedger reads an object, and says what is wrong when its ledger lacks the entry of
// an instance that must not be left behind. It fails when the API server does not
// answer.
func inLedger(ctx context.Context, live client.Reader, ref wire.ProxyRef, e crawl.InstanceRecord) (found *crawl.InstanceRecord, problem string, err error) {
	var p crawl.Proxy
	err = live.Get(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, &p)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return nil, "", err
	case err != nil || string(p.UID) != ref.UID:
		return nil, "its object is gone", nil
	case p.SkipsCleanup():
		return nil, "", nil
	}
	if found = entryOf(&p.Status, e); found == nil {
		problem = fmt.Sprintf("its ledger has only %+v", p.Status.Instances)
	}
	return found, problem, nil
}

// brief is an object in a line.
func brief(p *crawl.Proxy) string {
	var b strings.Builder
	fmt.Fprintf(&b, "generation %d, status %d %s", p.Generation, p.Status.Sequence, p.Status.Phase)
	if c := p.Status.Condition(crawl.ConditionReady); c != nil {
		fmt.Fprintf(&b, " (%s %s)", c.Reason, c.Message)
	}
	if p.Status.IP != "" {
		fmt.Fprintf(&b, " at %s:%d", p.Status.IP, p.Status.Port)
	}
	for _, e := range p.Status.Instances {
		fmt.Fprintf(&b, ", %s/%d", e.Provider, e.Incarnation)
		if e.AttemptUntil != nil {
			b.WriteString(" until " + e.AttemptUntil.UTC().Format("02T15:04:05"))
		}
	}
	for _, a := range []string{crawl.AnnotationPaused, crawl.AnnotationReplace, crawl.AnnotationSkipCleanup} {
		if v := p.Annotations[a]; v != "" {
			b.WriteString(", " + strings.TrimPrefix(a, crawl.GroupVersion.Group+"/") + "=" + v)
		}
	}
	if !p.DeletionTimestamp.IsZero() {
		b.WriteString(", being deleted")
	}
	return b.String()
}
