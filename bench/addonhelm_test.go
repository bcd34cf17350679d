package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/fairlead/deploy/local/localtest"
)

// helm is the command line of Helm, with a home of its own that knows the repository.
type helm struct {
	*world

	program, home string
}

// newHelm adds the repository, as a person would once.
func (f *addonFleet) newHelm() *helm {
	f.tb.Helper()
	h := &helm{world: f.world, program: filepath.Join(localtest.Dir(f.tb), "helm"), home: f.tb.TempDir()}
	h.must("add the repository to Helm", h.run(f.ctx, "repo", "add", "bench", f.repo))
	return h
}

// install has releases be installed in a namespace of their own, so many at a time, and
// returns how long it took.
func (h *helm) install(parallel int, releases map[string]string) time.Duration {
	h.tb.Helper()
	namespace := localtest.Namespace(h.tb, h.client, "helm")
	h.tb.Cleanup(func() {
		h.ctx = context.WithoutCancel(h.ctx) // a cleanup
		h.empty(namespace)
	})
	kubeconfig := localtest.Kubeconfig(h.tb, h.rest)
	start := time.Now()
	var all errgroup.Group
	all.SetLimit(parallel)
	for name, chart := range releases {
		all.Go(func() error {
			return h.run(h.ctx, "upgrade", "--install", name, "bench/"+chart, "--version", benchedVersion, "--namespace", namespace, "--kubeconfig", kubeconfig)
		})
	}
	h.must("install releases with Helm", all.Wait())
	return time.Since(start)
}

func (h *helm) run(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, h.program, args...)
	cmd.Env = append(os.Environ(), "HOME="+h.home, "HELM_CACHE_HOME="+h.home, "HELM_CONFIG_HOME="+h.home, "HELM_DATA_HOME="+h.home)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("helm %s: %w\n%s", args[0], err, out)
	}
	return nil
}
