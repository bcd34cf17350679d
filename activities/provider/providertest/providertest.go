// Package providertest is the contract of provider.Provider as tests that each
// provider passes, on its real backend.
package providertest

import (
	"testing"

	"example.com/fairlead/activities/provider"
)

// The clusters that share the backend of a Harness.
const (
	Cluster      = "11111111-1111-4111-8111-111111111111"
	OtherCluster = "22222222-2222-4222-8222-222222222222"
)

// Harness is a fresh, empty backend. What a backend cannot do, its harness says.
type Harness struct {
	// New makes a provider value for the cluster. Values of one Harness share the
	// backend: another value for the same cluster is a restart of the program.
	New func(clusterID string) provider.Provider
	// Place of the instances.
	Place string
	// Serves, if set, says whether an instance runs, whoever's it is.
	Serves func(provider.Instance) bool
	// Settle, if set, makes a created instance come up where the backend does not by
	// itself.
	Settle func(t *testing.T, id provider.ID)
	// Stop ends an instance by other means than the provider's.
	Stop func(t *testing.T, id provider.ID)
	// Halt ends an instance as a reboot of its host does; providers made after it see
	// the host as it is then. HasNoHalt says why it is not set.
	Halt      func(t *testing.T, id provider.ID)
	HasNoHalt string
	// Foreign puts something that is not ours where the instance would be, and returns
	// whether it is still as it was.
	Foreign func(t *testing.T, id provider.ID) (there func() bool)
	// Silence keeps a list from learning of the instance until speak is called, and
	// names the target that the list must tell of. HasNoSilence says why it is not set.
	Silence      func(t *testing.T, id provider.ID) (target string, speak func())
	HasNoSilence string
	// Kill makes the call in a program of the first cluster that is killed after so many
	// steps, and says whether the call had ended before.
	Kill func(t *testing.T, call Call, req provider.Request, steps int) (ended bool)
	// Left names all that the backend holds for instances, by other means than the
	// provider's.
	Left func() []string
}

// Run tests the provider of the harness that newHarness makes for each test.
func Run(t *testing.T, newHarness func(*testing.T) Harness) {
	for name, test := range map[string]func(*testing.T, Harness){
		"a created instance comes up as it was asked for":             testCreate,
		"creating it again returns it, whatever its hash":             testCreateAgain,
		"a deleted name can be created again":                         testRecreate,
		"a restarted program finds its instances":                     testRestart,
		"concurrent creates of one name make one instance":            testConcurrentCreates,
		"names and places that the backend could not take are errors": testBadNames,

		"an instance that never was is not found":              testGetUnknown,
		"a deleted instance is gone and may be deleted again":  testDelete,
		"a create that lands after the instance was not found": testLateCreate,
		"a create beside a delete leaves nothing by halves":    testCreateBesideDelete,

		"a disowned instance runs on, out of sight":    testDisown,
		"an instance of another cluster is left alone": testForeign,
		"what is not ours is left alone":               testNotOurs,

		"lists show all instances of this cluster and no other": testList,
		"a list names what does not answer":                     testSilence,
		"a backend that works is ready":                         testCheck,

		"a stopped instance is told, not started": testStopped,
		"a halted instance is started by create":  testHalted,

		"a create that is cut off anywhere is made good by the next": testCutCreate,
		"a delete that is cut off anywhere is made good by the next": testCutDelete,
		"a create after its deadline makes nothing":                  testOverdueCreate,
		"a create whose program is killed is made good by the next":  testKilledCreate,
		"a create whose program is killed can be deleted":            testKilledCreateDeleted,
		"a delete whose program is killed is finished by the next":   testKilledDelete,
	} {
		t.Run(name, func(t *testing.T) { test(t, newHarness(t)) })
	}
}

// Request asks for an instance of a Proxy with this UID.
func (h Harness) Request(clusterID, uid string) provider.Request {
	return provider.Request{
		ID:          provider.ID{Place: h.Place, Name: provider.InstanceName(uid)},
		Owner:       provider.Owner{Namespace: "crawlers", Name: "proxy-of-" + uid, UID: uid, ClusterID: clusterID},
		Incarnation: 1,
		Hash:        "v1:0123456789abcdef",
	}
}
