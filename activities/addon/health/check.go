package health

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon/manifest"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

// parallelReads bounds the load on the API server, and how many objects are in memory.
const parallelReads = 8

// Owned is an object of an add-on's inventory.
type Owned struct {
	manifest.ID

	// UID that it had when it was applied; empty if that is not known, and then any object of
	// the name will do.
	UID types.UID
}

// Check reads objects and says how they are together: as the worst of them is. What cannot be
// read for want of its API or of a right is Unknown and never Missing; it fails where no answer
// can be had at all, so that an outage is no bad health.
//
// Its reader must ask the API server, no cache. Its mapper is asked once for each kind: one
// that is older than a change of the served versions makes kinds Unknown.
func Check(ctx context.Context, reader client.Reader, mapper meta.RESTMapper, objects []Owned) (addons.Health, error) {
	kinds := mapped(mapper, objects)
	var sum summary
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallelReads)
	for i, o := range objects {
		g.Go(func() error {
			v, err := look(ctx, reader, kinds[o.GroupKind], o)
			if err != nil {
				return fmt.Errorf("read %s to see how it is: %w", o.ID, err)
			}
			sum.add(finding{Verdict: v, id: o.ID, at: i})
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return addons.Health{}, err
	}
	return sum.health(), nil
}

// finding is the verdict on the object at a place of the inventory.
type finding struct {
	Verdict

	id manifest.ID
	at int
}

// summary of findings, which come in any order. It keeps one of them.
type summary struct {
	mu     sync.Mutex
	worst  finding
	unwell int
}

func (s *summary) add(f finding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Status == addons.HealthHealthy {
		return
	}
	s.unwell++
	if s.unwell == 1 || f.worseThan(s.worst) {
		s.worst = f
	}
}

func (f finding) worseThan(other finding) bool {
	a, b := severity(f.Status), severity(other.Status)
	return a > b || a == b && f.at < other.at
}

func severity(s addons.HealthStatus) int {
	switch s {
	case addons.HealthMissing:
		return 4
	case addons.HealthDegraded:
		return 3
	case addons.HealthProgressing:
		return 2
	case addons.HealthUnknown:
		return 1
	default:
		return 0
	}
}

func (s *summary) health() addons.Health {
	if s.unwell == 0 {
		return addons.Health{Status: addons.HealthHealthy}
	}
	message := fmt.Sprintf("%s %s: %s", s.worst.id.Kind, place(s.worst.id), short(s.worst.Message))
	if others := s.unwell - 1; others > 0 {
		message += fmt.Sprintf("; and %d more", others)
	}
	return addons.Health{Status: s.worst.Status, Message: message}
}

func place(id manifest.ID) string {
	if id.Namespace == "" {
		return id.Name
	}
	return id.Namespace + "/" + id.Name
}
