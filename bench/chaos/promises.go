package main

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

// saw takes in an object as it is, or was a moment ago, and holds it to what it was
// before. What left the ledger may not come back, so an instance that is there now
// was there, or came, after it was told to be gone.
func (o *observer) saw(p *crawl.Proxy) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.subject(p)
	was := s.now
	s.now = p
	if p.Annotations[crawl.AnnotationSkipCleanup] == "true" {
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
		if slices.ContainsFunc(p.Status.Instances, func(r crawl.InstanceRecord) bool { return sameRecord(e, r) }) {
			continue
		}
		if i, found := readInstance(e.Provider, o.stateDirs[e.Provider], e.Name); found && i.uid == s.ref.UID && i.incarnation == e.Incarnation {
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
	if p.Annotations[crawl.AnnotationSkipCleanup] == "true" {
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

func sameRecord(a, b crawl.InstanceRecord) bool {
	return a.Provider == b.Provider && a.Place == b.Place && a.Name == b.Name && a.Incarnation == b.Incarnation
}

// inLedger says whether the ledger of p has the instance.
func inLedger(p *crawl.Proxy, i instance) bool {
	return slices.ContainsFunc(p.Status.Instances, func(r crawl.InstanceRecord) bool {
		return r.Provider == i.provider && r.Name == i.name && r.Incarnation == i.incarnation
	})
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
