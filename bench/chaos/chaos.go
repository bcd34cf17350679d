package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"

	temporalclient "go.temporal.io/sdk/client"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/api/kube"
	"example.com/fairlead/bench/internal/history"
	"example.com/fairlead/deploy/local/controlplane"
	"example.com/fairlead/starter"
	"example.com/fairlead/temporal/conn"
)

const (
	kubeNamespace     = "chaos"
	temporalNamespace = "default"
	// concurrent is how many lives are acted on at a time; those that wait for their
	// end do not count.
	concurrent = 60
	exporters  = 2
)

// providerNames are the providers that the objects move between.
var providerNames = []string{"red", "blue"}

func otherProvider(name string) string {
	if name == providerNames[0] {
		return providerNames[1]
	}
	return providerNames[0]
}

type options struct {
	lifecycles int
	seed       uint64
	// dir is an empty directory for all that is kept.
	dir string
	// binDir has the programs of the servers.
	binDir string
	out    io.Writer
}

// result counts the broken promises.
type result struct {
	lifecycles, leaked, duplicates, stuck int
	// broken are promises of other kinds.
	broken int
}

// String is the last line of a run. No other line looks like that of a run without
// a broken promise.
func (r result) String() string {
	line := fmt.Sprintf("%d lifecycles: %d leaked, %d duplicates, %d stuck", r.lifecycles, r.leaked, r.duplicates, r.stuck)
	if r.broken > 0 {
		line += fmt.Sprintf(", %d broken", r.broken)
	}
	return line
}

// run is what the parts of a run share.
type run struct {
	options
	canary    string
	secrets   [][]byte // the canary in its disguises
	role      roleSettings
	stack     *stack
	live      client.WithWatch
	temporal  temporalclient.Client
	signaller *starter.Signaller
	observer  *observer
	progress  *progress
	worker    *program
	starter   *program

	slots, exports chan struct{}
	entrance       sync.Mutex
	settled        sync.WaitGroup // lifecycles that ended, or wait for the quiet
	quiet          chan struct{}  // closed when instances = live objects
	target         net.Listener   // of the probes

	stop       context.CancelCauseFunc
	mu         sync.Mutex
	result     result
	violations []*violation
}

// runAll runs so many lifecycles, and ends at the first broken promise.
func runAll(ctx context.Context, o options) (result, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r := &run{
		options: o, canary: fmt.Sprintf("CANARY%016x", o.seed), stop: stop,
		slots: make(chan struct{}, concurrent), exports: make(chan struct{}, exporters), quiet: make(chan struct{}),
	}
	r.secrets = history.Disguises(r.canary)
	err := r.run(ctx)
	return r.result, err
}

func (r *run) run(ctx context.Context) (err error) {
	r.progress = newProgress(r.out)
	if r.stack, err = startStack(ctx, r.binDir, r.dir); err != nil {
		return fmt.Errorf("start the servers: %w", err)
	}
	defer func() { err = errors.Join(err, r.stack.stop()) }()
	if err := r.connect(ctx); err != nil {
		return err
	}
	defer r.temporal.Close()
	defer r.endProxies()
	scripts := r.scripts()
	err = r.play(ctx, scripts)
	if err == nil {
		err = errors.Join(r.searchLogs(), r.missFaults())
	}
	r.report(context.WithoutCancel(ctx), scripts)
	return err
}

func (r *run) scripts() (scripts []script) {
	for i := range r.lifecycles {
		scripts = append(scripts, newScript(r.seed, i+1))
	}
	return scripts
}

// fail notes a broken promise, and ends the run.
func (r *run) fail(v *violation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch v.verdict {
	case leaked:
		r.result.leaked++
	case duplicate:
		r.result.duplicates++
	case stuck:
		r.result.stuck++
	default:
		r.result.broken++
	}
	r.violations = append(r.violations, v)
	r.stop(v)
}

// faultsFrom is how many lifecycles meet every fault there is.
const faultsFrom = 100

// missFaults fails when a fault never came up: nothing was proved about it.
func (r *run) missFaults() error {
	var missing []string
	for _, f := range allFaults {
		if r.observer.faults[f] == 0 {
			missing = append(missing, string(f))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	v := &violation{broken, "", "no call met the fault: " + strings.Join(missing, "; ")}
	if r.lifecycles < faultsFrom {
		r.progress.printf("%s", v.what)
		return nil
	}
	r.fail(v)
	return v
}

// connect sets up what talks to the servers.
func (r *run) connect(ctx context.Context) error {
	scheme, err := kube.Scheme()
	if err != nil {
		return err
	}
	if r.live, err = client.NewWithWatch(r.stack.rest(), client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("set up the client of the Kubernetes API: %w", err)
	}
	if err := r.live.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: kubeNamespace}}); err != nil {
		return fmt.Errorf("create the namespace: %w", err)
	}
	quiet := slog.New(slog.DiscardHandler)
	if r.temporal, err = conn.Dial(ctx, conn.Options{Address: r.stack.address, Namespace: temporalNamespace, Log: quiet}); err != nil {
		return err
	}
	if r.target, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return fmt.Errorf("listen for probes: %w", err)
	}
	r.signaller = &starter.Signaller{Temporal: r.temporal}
	stateDirs, providers := map[string]string{}, "providers:\n"
	for _, name := range providerNames {
		stateDirs[name] = filepath.Join(r.dir, "state-"+name)
		providers += fmt.Sprintf("  - {name: %s, type: process, process: {stateDir: %q}}\n", name, stateDirs[name])
	}
	r.role = roleSettings{
		Seed: r.seed, Kubeconfig: filepath.Join(r.dir, "kubeconfig"), Temporal: r.stack.address, Namespace: temporalNamespace,
		Providers: filepath.Join(r.dir, "providers.yaml"), CallLog: filepath.Join(r.dir, "calls.log"), Owner: os.Getpid(),
		ProbeURL: "http://" + r.target.Addr().String() + "/",
	}
	r.observer = newObserver(kubeNamespace, stateDirs, r.role.Owner, r.live, r.fail)
	if err := os.WriteFile(r.role.Providers, []byte(providers), 0o600); err != nil {
		return fmt.Errorf("write the providers file: %w", err)
	}
	return r.stack.kube.WriteKubeconfig(r.role.Kubeconfig, controlplane.Admin)
}
