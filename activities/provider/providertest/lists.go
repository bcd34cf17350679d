package providertest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/provider"
)

func testList(t *testing.T, h Harness) {
	p, other := h.New(Cluster), h.New(OtherCluster)
	if l := list(t, p); len(l) != 0 {
		t.Fatalf("an empty backend lists %+v", l)
	}
	want := map[string]provider.Instance{}
	for i := range 3 {
		uid := fmt.Sprint("ours-", i)
		want[uid] = h.create(t, p, h.Request(Cluster, uid))
	}
	theirs := h.create(t, other, h.Request(OtherCluster, "theirs"))
	if diff := cmp.Diff(want, list(t, p)); diff != "" {
		t.Errorf("our list (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]provider.Instance{"theirs": theirs}, list(t, other)); diff != "" {
		t.Errorf("the list of the other cluster (-want +got):\n%s", diff)
	}
}

func testCheck(t *testing.T, h Harness) {
	statuses := h.New(Cluster).Check(t.Context())
	if len(statuses) == 0 {
		t.Error("no target is checked")
	}
	for _, s := range statuses {
		if !s.Ready || s.Name == "" || s.Reason == "" {
			t.Errorf("the verdict is %+v", s)
		}
	}
}

// testSilence: a list that lacks something says so, or what it lacks would be taken
// for gone.
func testSilence(t *testing.T, h Harness) {
	if lacks(t, h.Silence != nil, "Silence", h.HasNoSilence) {
		return
	}
	p, heard, silent := h.New(Cluster), h.Request(Cluster, "heard"), h.Request(Cluster, "silent")
	h.create(t, p, heard)
	h.create(t, p, silent)
	before := list(t, p)
	target, speak := h.Silence(t, silent.ID)
	l, err := p.List(t.Context())
	if err != nil || len(l.Incomplete) != 1 || l.Incomplete[target] == "" {
		t.Errorf("the list is incomplete about %v, %v, want it to name %q and why", l.Incomplete, err, target)
	}
	for _, inst := range l.Instances {
		if inst.ID == silent.ID {
			t.Errorf("an instance that nothing is known of is listed as %+v", inst)
		}
	}
	speak()
	if diff := cmp.Diff(before, list(t, p)); diff != "" {
		t.Errorf("the list after that (-before +after):\n%s", diff)
	}
}
