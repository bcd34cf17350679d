package main

import (
	"fmt"
	"maps"
	"time"

	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// subject is one object under observation.
type subject struct {
	ref wire.ProxyRef
	who string
	// now is the object as last seen.
	now  *crawl.Proxy
	gone bool
	// abandoned objects were told to leave their instances behind.
	abandoned bool
	// disturbed is what was done to its workflow.
	disturbed map[act]bool
	// seen has the lock files of instances that were in the ledger in time.
	seen map[string]bool
	log  []string
}

// keepLines is how many lines of its log a subject keeps.
const keepLines = 120

// subject of p, which is new when p was never seen. It is called with the lock.
func (o *observer) subject(p *crawl.Proxy) *subject {
	s, ok := o.subjects[string(p.UID)]
	if !ok {
		s = &subject{
			ref:  wire.ProxyRef{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID)},
			who:  p.Spec.Attributes[attributeWho],
			now:  p,
			seen: map[string]bool{},
		}
		o.subjects[s.ref.UID], o.byInstance[provider.InstanceName(s.ref.UID)] = s, s
	}
	return s
}

// tell adds a line to the log of a subject. It is called with the lock.
func (o *observer) tell(s *subject, format string, args ...any) {
	line := fmt.Sprintf("%8.3f ", time.Since(o.began).Seconds()) + fmt.Sprintf(format, args...)
	if s.log = append(s.log, line); len(s.log) > keepLines {
		s.log = s.log[1:]
	}
}

// note adds a line to the log of the object with this UID.
func (o *observer) note(uid, format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s, ok := o.subjects[uid]; ok {
		o.tell(s, format, args...)
	}
}

// abandon notes that the instances of an object may be left behind from now on.
func (o *observer) abandon(uid string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s, ok := o.subjects[uid]; ok {
		s.abandoned = true
	}
}

// disturb notes what is done to the workflow of an object.
func (o *observer) disturb(uid string, a act) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s, ok := o.subjects[uid]; ok {
		s.disturbed = maps.Clone(s.disturbed) // the former one is in the hands of others
		if s.disturbed == nil {
			s.disturbed = map[act]bool{}
		}
		s.disturbed[a] = true
	}
}

// disturbances are what was done, or is being done, to the workflow of an object.
func (o *observer) disturbances(uid string) map[act]bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s, ok := o.subjects[uid]; ok {
		return s.disturbed
	}
	return nil
}
