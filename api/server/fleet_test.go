package server

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/lease"
)

// slowDesk looks at what readers of the fleet can see while it is told of a proxy.
type slowDesk struct {
	fleet *fleet
	seen  []crawl.Phase
}

func (d *slowDesk) Synced() {}

func (d *slowDesk) Put(lease.Candidate) { d.look() }

func (d *slowDesk) Remove(string) { d.look() }

func (d *slowDesk) look() {
	if !d.fleet.mu.TryRLock() {
		d.seen = append(d.seen, "they wait")
		return
	}
	defer d.fleet.mu.RUnlock()
	for _, p := range d.fleet.byName {
		d.seen = append(d.seen, p.Status.Phase)
	}
}

func TestNoReaderSeesWhatTheDeskWasNotToldYet(t *testing.T) {
	d := &slowDesk{}
	d.fleet = newFleet(d)
	draining := &crawl.Proxy{
		ObjectMeta: metav1.ObjectMeta{Namespace: "crawl", Name: "demo", UID: "uid-demo"},
		Status:     crawl.ProxyStatus{Phase: crawl.PhaseDraining},
	}
	deleting, twin := draining.DeepCopy(), draining.DeepCopy()
	now := metav1.Now()
	deleting.DeletionTimestamp = &now
	twin.UID = "uid-twin"
	d.fleet.OnAdd(draining, true)
	d.fleet.OnUpdate(nil, deleting)
	d.fleet.OnAdd(twin, false) // the deletion of the former one was missed
	d.fleet.OnDelete(twin)
	want := []crawl.Phase{"they wait", "they wait", "they wait", "they wait", "they wait"}
	if diff := cmp.Diff(want, d.seen); diff != "" {
		t.Errorf("while the desk is told, readers see (-want +got):\n%s", diff)
	}
	if p := d.fleet.named("crawl", "demo"); p != nil {
		t.Errorf("what was deleted is still there: %s", p.UID)
	}
}

func TestACandidateIsAsNewAsItsStatus(t *testing.T) {
	p := &crawl.Proxy{Status: crawl.ProxyStatus{Sequence: 7}}
	if got := candidateOf(p).Version; got != 7 {
		t.Errorf("version %d, want the sequence of the status, 7", got)
	}
}
