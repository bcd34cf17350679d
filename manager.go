package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	temporalclient "go.temporal.io/sdk/client"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	addons "example.com/fairlead/api/addons/v1alpha1"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/deploy/local/ports"
	"example.com/fairlead/starter"
)

// managerSettings are those of what the parts of a process run on.
type managerSettings struct {
	// Addresses to serve metrics and health on; empty for not at all.
	metricsAddress, healthAddress string

	// Namespaces of the Proxies; empty for all.
	namespaces []string
	// only has what is kept; empty for what the other settings allow.
	only []string

	leaderElect       bool
	electionNamespace string
}

const (
	flagMetricsAddress = "metrics-address"
	flagHealthAddress  = "health-address"
)

// addScopeFlags are for every part: they all look at the same objects.
func (s *managerSettings) addScopeFlags(f *pflag.FlagSet) {
	f.StringSliceVar(&s.namespaces, "namespace", nil, "Kubernetes `namespace` of the Proxies, several with commas (default: all); the same for all parts, which then need a Temporal namespace of their own")
}

// What --only names.
const (
	onlyProxies = "proxies"
	onlyAddons  = "addons"
)

// addOnlyFlag is for the parts that keep Proxies and add-ons.
func (s *managerSettings) addOnlyFlag(f *pflag.FlagSet) {
	f.StringSliceVar(&s.only, "only", nil, "what is kept: proxies or addons (default: both; with --namespace proxies, for add-ons are of the whole cluster)")
}

func (s *managerSettings) keepsProxies() bool {
	return len(s.only) == 0 || slices.Contains(s.only, onlyProxies)
}

// keepsAddons: of several installations in one cluster, each of a namespace, none keeps the
// add-ons unless it is told to.
func (s *managerSettings) keepsAddons() bool {
	return len(s.only) == 0 && len(s.namespaces) == 0 || slices.Contains(s.only, onlyAddons)
}

// kinds of objects that are kept.
func (s *managerSettings) kinds() []client.Object {
	var kinds []client.Object
	if s.keepsProxies() {
		kinds = append(kinds, &crawl.Proxy{})
	}
	if s.keepsAddons() {
		kinds = append(kinds, &addons.Addon{})
	}
	return kinds
}

// electionID is another one for starters that watch nothing of what others watch.
func (s *managerSettings) electionID() string {
	if s.keepsProxies() {
		return "fairlead-starter"
	}
	return "fairlead-starter-addons"
}

// addServingFlags are for the parts that have no HTTP API.
func (s *managerSettings) addServingFlags(f *pflag.FlagSet) {
	f.StringVar(&s.metricsAddress, flagMetricsAddress, "", "`host:port` to serve Prometheus metrics on at /metrics, such as :9102 (default: not served)")
	f.StringVar(&s.healthAddress, flagHealthAddress, "", "`host:port` to serve /healthz and /readyz on, such as :9103 (default: not served)")
}

// check tells what cannot be listened on: the manager, which listens much later,
// names no flag.
func (s *managerSettings) check() error {
	if slices.Contains(s.namespaces, "") { // to the cache it would mean all
		return errors.New("--namespace has an empty name: leave the flag out for all namespaces")
	}
	for _, what := range s.only {
		if what != onlyProxies && what != onlyAddons {
			return fmt.Errorf("--only %q is none of %s and %s", what, onlyProxies, onlyAddons)
		}
	}
	if s.metricsAddress != "" && s.metricsAddress == s.healthAddress {
		return fmt.Errorf("--%s and --%s are both %s: give each an address of its own", flagMetricsAddress, flagHealthAddress, s.healthAddress)
	}
	var errs []error
	for _, l := range []struct{ flag, address string }{{flagMetricsAddress, s.metricsAddress}, {flagHealthAddress, s.healthAddress}} {
		if l.address != "" {
			errs = append(errs, ports.Check(l.address, "--"+l.flag))
		}
	}
	return errors.Join(errs...)
}

// scope is what the cache holds, nil for all.
func (s *managerSettings) scope() map[string]cache.Config {
	if len(s.namespaces) == 0 {
		return nil
	}
	scope := map[string]cache.Config{}
	for _, ns := range s.namespaces {
		scope[ns] = cache.Config{}
	}
	return scope
}

const flagElectionNamespace = "leader-election-namespace"

func (s *managerSettings) addElectionFlags(f *pflag.FlagSet) {
	f.BoolVar(&s.leaderElect, "leader-elect", false, "of several starters, only one watches at a time")
	f.StringVar(&s.electionNamespace, flagElectionNamespace, "", "`namespace` in which they agree on it (default: that of the pod, else default)")
}

// newManager makes a manager whose cache has no Secrets but labelled ones.
func newManager(ctx context.Context, s settings, scheme *runtime.Scheme, live client.Reader) (manager.Manager, error) {
	byObject := starter.CacheByObject()
	byObject[&corev1.Secret{}] = cache.ByObject{Label: labels.SelectorFromSet(labels.Set{crawl.LabelCloudInit: "true"})}
	grace := 30 * time.Second
	o := manager.Options{
		Scheme:                  scheme,
		Cache:                   cache.Options{ByObject: byObject, DefaultNamespaces: s.manager.scope()},
		Metrics:                 server.Options{BindAddress: cmp.Or(s.manager.metricsAddress, "0")},
		HealthProbeBindAddress:  s.manager.healthAddress,
		LeaderElection:          s.manager.leaderElect,
		LeaderElectionID:        s.manager.electionID(),
		GracefulShutdownTimeout: &grace,
	}
	if s.manager.leaderElect {
		var err error
		if o.LeaderElectionNamespace, err = findElectionNamespace(ctx, s.manager.electionNamespace, podNamespaceFile, live); err != nil {
			return nil, err
		}
	}
	mgr, err := ctrl.NewManager(s.rest, o)
	if err != nil {
		return nil, fmt.Errorf("set up the manager: %w", err)
	}
	return mgr, addHealth(mgr, s.manager.kinds())
}

// podNamespaceFile is there in every pod that has a service account.
const podNamespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// findElectionNamespace makes sure that there is one: an election in a namespace
// that does not exist is tried for ever.
func findElectionNamespace(ctx context.Context, given, podFile string, live client.Reader) (string, error) {
	name := given
	if name == "" {
		data, err := os.ReadFile(podFile) // #nosec G304 -- the file that Kubernetes mounts
		switch {
		case errors.Is(err, fs.ErrNotExist): // not in a pod
			name = corev1.NamespaceDefault
		case err != nil:
			return "", fmt.Errorf("find the namespace of this pod, or name one with --%s: %w", flagElectionNamespace, err)
		default:
			name = strings.TrimSpace(string(data))
		}
	}
	if err := live.Get(ctx, types.NamespacedName{Name: name}, &corev1.Namespace{}); apierrors.IsNotFound(err) {
		return "", fmt.Errorf("elect a leader: there is no namespace %q: make it, or name another one with --%s", name, flagElectionNamespace)
	} // whoever may not read namespaces may still elect in them
	return name, nil
}

// readyTimeout is less than that of a kubelet that asks.
const readyTimeout = 900 * time.Millisecond

func addHealth(mgr manager.Manager, kinds []client.Object) error {
	return errors.Join(
		mgr.AddHealthzCheck("process", healthz.Ping),
		mgr.AddReadyzCheck("cache", func(r *http.Request) error {
			ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
			defer cancel()
			for _, kind := range kinds {
				if _, err := mgr.GetCache().GetInformer(ctx, kind); err != nil {
					return fmt.Errorf("fill the cache of the objects: %w", err)
				}
			}
			if !mgr.GetCache().WaitForCacheSync(ctx) {
				return errors.New("the cache of the objects is not filled yet")
			}
			return nil
		}),
	)
}

// temporalAnswers is a check of readiness.
func temporalAnswers(c temporalclient.Client) healthz.Checker {
	return func(r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
		defer cancel()
		if _, err := c.CheckHealth(ctx, &temporalclient.CheckHealthRequest{}); err != nil {
			return fmt.Errorf("ask Temporal for its health: %w", err)
		}
		return nil
	}
}

// processMetrics is the registry that controller-runtime fills too: a process has
// one set of metrics, wherever it is served.
func processMetrics() (*prometheus.Registry, error) {
	r, ok := metrics.Registry.(*prometheus.Registry)
	if !ok {
		return nil, fmt.Errorf("the metrics of controller-runtime are a %T, not a registry", metrics.Registry)
	}
	return r, nil
}
