package localtest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"example.com/fairlead/deploy/local/controlplane"
	"example.com/fairlead/deploy/local/ports"
	"example.com/fairlead/deploy/local/temporal"
)

// namespaceCount is how many namespaces a package's tests may use. They are made
// before the server starts: a namespace made later takes seconds to be known.
const namespaceCount = 24

// temporalServer is the shared server and the namespaces that no test has yet.
type temporalServer struct {
	*temporal.Server
	mu   sync.Mutex
	free []string
}

// Temporal gives the address of a Temporal server that has Fairlead's search
// attributes, and a namespace that no other test of the package uses.
func Temporal(t testing.TB) (address, namespace string) {
	t.Helper()
	bin := Dir(t)
	s := shared.temporal.get(t, func() (*temporalServer, error) { return shared.startTemporal(bin) })
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.free) == 0 {
		t.Fatalf("all %d Temporal namespaces of the package's tests are used: raise namespaceCount of localtest", namespaceCount)
	}
	namespace, s.free = s.free[0], s.free[1:]
	return s.Address, namespace
}

func (e *environment) startTemporal(bin string) (*temporalServer, error) {
	if err := controlplane.CheckPrograms(bin, temporal.Program); err != nil {
		return nil, err
	}
	free, err := ports.Reserve(1)
	if err != nil {
		return nil, err
	}
	group, dir, err := e.newGroup("temporal")
	if err != nil {
		return nil, err
	}
	s := &temporalServer{}
	for i := range namespaceCount {
		s.free = append(s.free, fmt.Sprintf("test-%02d", i+1))
	}
	s.Server, err = temporal.Start(context.Background(), group, temporal.Options{
		Dir: dir, BinDir: bin, Port: free.Ports[0], Namespaces: s.free,
	})
	return s, err
}
