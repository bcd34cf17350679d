package child_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.com/fairlead/activities/addon/render"
	"example.com/fairlead/activities/addon/render/child"
	"example.com/fairlead/internal/eventually"
)

func TestAChartThatEndsItsRendererFailsAlone(t *testing.T) {
	const canary = "canary-of-the-values"
	loops := func(r *child.Renderer) { r.Timeout = 2 * time.Second }
	for name, c := range map[string]struct {
		template string
		change   func(*child.Renderer)
		is       error
		says     string
	}{
		"a template that calls tpl on itself": {
			template: `{{ define "t" }}{{ tpl "{{ include \"t\" . }}" . }}{{ end }}{{ tpl .Values.self . }}`,
			change:   func(r *child.Renderer) { r.MaxMemory = 4 << 30 }, // much, for the race detector
			is:       child.ErrRecursion, says: "a template includes or calls itself without end",
		},
		"a template that loops": {
			template: `{{ range until 2000 }}{{ range until 2000 }}{{ range until 2000 }}{{ end }}{{ end }}{{ end }}`,
			change:   loops, is: child.ErrTime, says: "takes too long",
		},
		"a template that makes a list of a billion": {template: `{{ range until 1000000000 }}{{ end }}`, is: child.ErrMemory, says: "memory"},
		"a template that allocates bit by bit": {
			template: `{{ $d := dict }}{{ range $i := until 100000 }}{{ $_ := set $d (toString $i) (repeat 100000 "x") }}{{ end }}`,
			is:       child.ErrMemory, says: "memory",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRenderer(t, c.change)
			began := time.Now()
			_, _, _, err := r.Chart(t.Context(), chartOf(t, c.template), request(t, func(req *render.Request) {
				req.Values = map[string]any{"self": `{{ tpl .Values.self . }}`, "password": canary}
				req.Secrets = [][]byte{[]byte(canary)}
			}))
			if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "release shop") {
				t.Errorf("got error %v", err)
			}
			if err != nil && (strings.Contains(err.Error(), canary) || len(err.Error()) > 300) {
				t.Errorf("the error tells what is the add-on's: %v", err)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %s", took)
			}
			if _, _, _, err := r.Chart(t.Context(), chartOf(t, configMap), request(t, nil)); err != nil {
				t.Errorf("the next render: %v", err)
			}
		})
	}
}

// asking is a render that waits for the answer to a question.
type asking struct {
	asked, answer chan struct{}
	failed        chan error
}

func startAsking(ctx context.Context, t *testing.T, r *child.Renderer) asking {
	t.Helper()
	a := asking{asked: make(chan struct{}), answer: make(chan struct{}), failed: make(chan error, 1)}
	var once sync.Once
	req := request(t, func(req *render.Request) {
		req.Lookup = func(ctx context.Context, _ render.Question) (map[string]any, error) {
			once.Do(func() { close(a.asked) })
			select {
			case <-a.answer:
			case <-ctx.Done():
			}
			return nil, ctx.Err()
		}
	})
	archive := chartOf(t, `{{ $n := lookup "v1" "Node" "" "a" }}`+configMap)
	go func() {
		_, _, _, err := r.Chart(ctx, archive, req)
		a.failed <- err
	}()
	return a
}

func TestAKilledChildCostsItsRenderOnly(t *testing.T) {
	r := newRenderer(t, nil)
	a := startAsking(t.Context(), t, r)
	<-a.asked
	if err := syscall.Kill(onlyChild(t), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	close(a.answer)
	if err := <-a.failed; !errors.Is(err, child.ErrEnded) || !strings.Contains(err.Error(), "killed") {
		t.Errorf("got error %v, want one that says it was killed", err)
	}
	if _, _, _, err := r.Chart(t.Context(), chartOf(t, configMap), request(t, nil)); err != nil {
		t.Errorf("the next render: %v", err)
	}
}

func TestAChildThatWasKilledIdleIsNotAsked(t *testing.T) {
	r := newRenderer(t, nil)
	for range 3 {
		if _, _, _, err := r.Chart(t.Context(), chartOf(t, configMap), request(t, nil)); err != nil {
			t.Fatal(err)
		}
		pid := onlyChild(t)
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually.Until(t, "it is gone", func() bool { return len(children(t)) == 0 })
	}
}

func TestTheEndOfTheCallerEndsTheChild(t *testing.T) {
	r := newRenderer(t, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	a := startAsking(ctx, t, r)
	<-a.asked
	cause := errors.New("nobody wants it any more")
	cancel(cause)
	if err := <-a.failed; !errors.Is(err, cause) {
		t.Errorf("got error %v, want the cause", err)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("children %v are left", left)
	}
}

func TestServeEndsWithItsInputWhateverItRenders(t *testing.T) {
	in, feed := io.Pipe()
	served := make(chan error, 1)
	asks := make(chan []byte, 1)
	go func() { served <- child.Serve(in, tap(asks)) }()
	// A question that nobody answers is a render that does not end.
	request := []byte(`{"request":{"release":"a","namespace":"b","kubeVersion":"v1.37.0","lookup":true}}`)
	archive := chartOf(t, `{{ lookup "v1" "Node" "" "a" }}`)
	for _, part := range [][]byte{lengths(len(request), len(archive)), request, archive} {
		if _, err := feed.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if got := <-asks; !bytes.Contains(got, []byte(`"Node"`)) {
		t.Fatalf("it says %q, which is no question", got)
	}
	if err := feed.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Errorf("it fails: %v", err)
	}
}

// tap passes on what is written.
type tap chan []byte

func (t tap) Write(b []byte) (int, error) {
	if bytes.HasPrefix(b, []byte("{")) || len(b) > 8 {
		t <- bytes.Clone(b)
	}
	return len(b), nil
}

func lengths(head, body int) []byte {
	return []byte{byte(head >> 24), byte(head >> 16), byte(head >> 8), byte(head), byte(body >> 24), byte(body >> 16), byte(body >> 8), byte(body)}
}

func TestAProgramThatIsNoRendererIsAnError(t *testing.T) {
	for name, command := range map[string][]string{
		"one that is missing":   {"/no/such/program"},
		"one that ends":         {"/bin/true"},
		"one that says another": {"/bin/echo", "hello, this is no renderer at all"},
	} {
		t.Run(name, func(t *testing.T) {
			before := openFiles(t)
			r := newRenderer(t, func(r *child.Renderer) { r.Command = command })
			if _, _, _, err := r.Chart(t.Context(), chartOf(t, configMap), request(t, nil)); err == nil {
				t.Error("it renders")
			}
			if after := openFiles(t); after != before {
				t.Errorf("%d files are open, %d were before", after, before)
			}
		})
	}
}

func TestSecretsAreOnlyInPipes(t *testing.T) {
	const canary = "canary-of-the-values"
	t.Setenv("OF_THE_PARENT", canary)
	log := t.TempDir() + "/stderr"
	r := newRenderer(t, func(r *child.Renderer) {
		r.Command = append([]string{"/bin/sh", "-c", `exec 2>"$0"; exec "$@"`, log}, r.Command...)
	})
	// Helm logs the values that do not fit, with what they are.
	_, _, _, err := r.Chart(t.Context(), pack(t, map[string]string{
		"c/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n", "c/templates/a.yaml": configMap, "c/values.yaml": "db: {password: x}\n",
	}), request(t, func(req *render.Request) {
		req.Values, req.Secrets = map[string]any{"db": canary}, [][]byte{[]byte(canary)}
	}))
	if err != nil {
		t.Fatal(err)
	}
	proc := "/proc/" + strconv.Itoa(onlyChild(t))
	for _, file := range []string{proc + "/cmdline", proc + "/environ", log} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte(canary)) {
			t.Errorf("%s has the secret: %q", file, text)
		}
	}
}
