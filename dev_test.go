package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	temporalclient "go.temporal.io/sdk/client"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/deploy/local/ports"
)

// program is the fairlead binary under test, which is built with buildFlags.
var (
	program    string
	buildFlags []string
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "fairlead-bin-")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "fairlead")
	build := exec.Command("go", append([]string{"build", "-o", program}, append(buildFlags, ".")...)...) // #nosec G204 -- flags of the tests
	if out, err := build.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("build fairlead: %v\n%s", err, out))
	}
	code := localtest.Main(m)
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// How long the stack may take to come up, and to go down.
const (
	upTimeout   = 2 * time.Minute
	downTimeout = time.Minute
)

// stack is `fairlead dev` with a state directory and ports of its own.
type stack struct {
	t          *testing.T
	program    string
	dir        string
	kubeconfig string
	flags      []string
	http       string
	ui         string
	echo       string
	out        *output
	cmd        *exec.Cmd
	// ended is closed when the program has ended, with err.
	ended chan struct{}
	err   error
}

// output is what the program said so far.
type output struct {
	mu    sync.Mutex
	text  bytes.Buffer
	once  sync.Once
	ready chan struct{} // closed when it said that it is ready
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.text.Write(p)
	if bytes.Contains(o.text.Bytes(), []byte("Ctrl-C ends it.")) {
		o.once.Do(func() { close(o.ready) })
	}
	return n, err
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func newStack(t *testing.T) *stack {
	t.Helper()
	free, err := ports.Reserve(6)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(free.Release)
	p := free.Ports
	s := &stack{t: t, program: program, dir: filepath.Join(t.TempDir(), "state")}
	s.kubeconfig = filepath.Join(s.dir, "kubeconfig")
	s.http, s.ui, s.echo = fmt.Sprintf("http://127.0.0.1:%d", p[5]), fmt.Sprintf("http://127.0.0.1:%d", p[3]), fmt.Sprintf("http://127.0.0.1:%d", p[4])
	s.flags = []string{
		"dev", "--state-dir", s.dir, "--bin-dir", localtest.Dir(t), "--http-address", strings.TrimPrefix(s.http, "http://"),
		fmt.Sprintf("--kubernetes-port=%d", p[0]), fmt.Sprintf("--etcd-port=%d", p[1]), fmt.Sprintf("--temporal-port=%d", p[2]),
		fmt.Sprintf("--temporal-ui-port=%d", p[3]), fmt.Sprintf("--echo-port=%d", p[4]),
	}
	t.Cleanup(s.erase)
	return s
}

// start runs the stack and waits until it says that it is ready.
func (s *stack) start() {
	s.t.Helper()
	s.out = &output{ready: make(chan struct{})}
	s.cmd = exec.Command(s.program, s.flags...) // #nosec G204 -- the program under test
	s.cmd.Stdout, s.cmd.Stderr = s.out, s.out
	s.cmd.WaitDelay = time.Second // a child that lives on must not keep the pipe open
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan struct{})
	s.ended = ended
	go func() {
		s.err = s.cmd.Wait()
		close(ended)
	}()
	select {
	case <-s.out.ready:
	case <-s.ended:
		s.t.Fatalf("fairlead dev ended: %v\n%s", s.err, s.out)
	case <-time.After(upTimeout):
		s.t.Fatalf("fairlead dev is not ready after %s\n%s", upTimeout, s.out)
	}
}

func (s *stack) kill() {
	s.t.Helper()
	if err := s.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		s.t.Fatal(err)
	}
	<-s.ended
}

// stop ends the stack as Ctrl-C does.
func (s *stack) stop() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		s.t.Error(err)
	}
	select {
	case <-s.ended:
		if s.err != nil {
			s.t.Errorf("fairlead dev ended with %v\n%s", s.err, s.out)
		}
	case <-time.After(downTimeout):
		s.t.Errorf("fairlead dev does not end within %s and is killed\n%s", downTimeout, s.out)
		s.kill()
	}
}

// running says whether the program was started and has not ended.
func (s *stack) running() bool {
	if s.ended == nil {
		return false
	}
	select {
	case <-s.ended:
		return false
	default:
		return true
	}
}

// erase ends the stack and the proxies that it left running.
func (s *stack) erase() {
	if s.running() {
		s.stop()
	}
	ctx, cancel := context.WithTimeout(context.Background(), downTimeout)
	defer cancel()
	if err := endProxies(ctx, s.dir); err != nil {
		s.t.Errorf("end the proxies: %v", err)
	}
}

func (s *stack) client() client.WithWatch {
	s.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	if err != nil {
		s.t.Fatal(err)
	}
	return localtest.Client(s.t, config)
}

// watchProxies follows the Proxies of namespace default; nothing that happens after
// it returned is missed, however short.
func (s *stack) watchProxies() watch.Interface {
	s.t.Helper()
	w, err := s.client().Watch(s.t.Context(), &crawl.ProxyList{}, client.InNamespace("default"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(w.Stop)
	return w
}

// await returns at the moment at which a Proxy is as wanted.
func await(t *testing.T, w watch.Interface, what string, wanted func(*crawl.Proxy) bool) {
	t.Helper()
	var last crawl.ProxyStatus
	deadline := time.After(30 * time.Second)
	for {
		select {
		case e, open := <-w.ResultChan():
			p, ok := e.Object.(*crawl.Proxy)
			if !open || !ok {
				t.Fatalf("the watch ended with %v while waiting for %s; last seen: %+v", e.Object, what, last)
			}
			if wanted(p) {
				return
			}
			last = p.Status
		case <-deadline:
			t.Fatalf("not within 30s: %s; last seen: %+v", what, last)
		}
	}
}

// kubectl runs kubectl as a person would.
func (s *stack) kubectl(args ...string) string {
	s.t.Helper()
	path, err := exec.LookPath("kubectl")
	if err != nil {
		path = filepath.Join(localtest.Dir(s.t), "kubectl")
	}
	cmd := exec.Command(path, append([]string{"--kubeconfig", s.kubeconfig}, args...)...) // #nosec G204 -- built by make
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// apply makes the objects of a file, with some of its words changed: each is
// followed by what takes its place.
func (s *stack) apply(file string, changes ...string) {
	s.t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	text := string(data)
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(text, changes[i]) {
			s.t.Fatalf("%s does not have %q", file, changes[i])
		}
		text = strings.ReplaceAll(text, changes[i], changes[i+1])
	}
	changed := filepath.Join(s.t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.kubectl("apply", "-f", changed)
}

// borrow leases a proxy as a crawler does.
func (s *stack) borrow(request string) (id string, proxy *url.URL) {
	s.t.Helper()
	var granted struct {
		LeaseID string
		Proxy   struct {
			Scheme, Host string
			Port         int
		}
	}
	if code := s.call(http.MethodPost, "/v1/leases", request, &granted); code != http.StatusCreated {
		s.t.Fatalf("lease answered %d: %+v", code, granted)
	}
	return granted.LeaseID, &url.URL{Scheme: granted.Proxy.Scheme, Host: fmt.Sprintf("%s:%d", granted.Proxy.Host, granted.Proxy.Port)}
}

func (s *stack) giveBack(lease string) {
	s.t.Helper()
	if code := s.call(http.MethodDelete, "/v1/leases/"+lease, "", nil); code != http.StatusNoContent {
		s.t.Errorf("release answered %d", code)
	}
}

// call asks the HTTP API as the operator, and decodes the answer into v.
func (s *stack) call(method, path, body string, v any) int {
	s.t.Helper()
	code, data := s.ask(method, path, body)
	if v != nil {
		if err := json.Unmarshal(data, v); err != nil {
			s.t.Fatalf("%s %s answered %d %s: %v", method, path, code, data, err)
		}
	}
	return code
}

// ask asks the HTTP API as the operator.
func (s *stack) ask(method, path, body string) (code int, answer []byte) {
	s.t.Helper()
	token, err := os.ReadFile(filepath.Join(s.dir, "operator.token"))
	if err != nil {
		s.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.http+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, data
}

// through fetches target through the proxy.
func through(t *testing.T, proxy *url.URL, target string) string {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy), DisableKeepAlives: true}, Timeout: 10 * time.Second}
	resp, err := c.Get(target)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

// processes are the forward proxies that run for this stack.
func (s *stack) processes() []string {
	s.t.Helper()
	entries, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		s.t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		data, err := os.ReadFile(e) // #nosec G304 -- of /proc
		if err != nil {
			continue // it ended
		}
		words := strings.ReplaceAll(string(data), "\x00", " ")
		if strings.Contains(words, " proxy ") && strings.Contains(words, s.dir) {
			found = append(found, strings.TrimSuffix(filepath.Dir(e), "/")+" "+words)
		}
	}
	return found
}

// temporal connects to the stack's Temporal.
func (s *stack) temporal() temporalclient.Client {
	s.t.Helper()
	var address string
	for _, f := range s.flags {
		if port, ok := strings.CutPrefix(f, "--temporal-port="); ok {
			address = "127.0.0.1:" + port
		}
	}
	return localtest.DialTemporal(s.t, address, temporalclient.DefaultNamespace)
}

// firstRun is the run in which the instance of the Proxy was created.
func (s *stack) firstRun(uid string) string {
	s.t.Helper()
	run, err := s.temporal().DescribeWorkflow(s.t.Context(), "proxy/default/demo/"+uid, "")
	if err != nil {
		s.t.Fatal(err)
	}
	return run.RawResponse.GetWorkflowExecutionInfo().GetFirstRunId()
}
