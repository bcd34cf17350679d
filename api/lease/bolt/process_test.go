package bolt

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
)

// childMark makes the test program another process.
const childMark = "FAIRLEAD_TEST_CHILD"

// child goes on with the history in the file of its directory, and prints the number of each group that it
// committed, until its standard input ends.
func child() error {
	j, err := newPlace(fileName, tiny).Lead(context.Background())
	if err != nil {
		return err
	}
	n := 0
	err = j.Load(context.Background(), func(c lease.Change) (err error) {
		if c.Kind == 9 {
			n, err = strconv.Atoi(string(c.Value))
		}
		return err
	})
	stop := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(stop)
	}()
	for err == nil {
		n++
		if err = j.Commit(context.Background(), group(n)); err == nil {
			if _, err = fmt.Fprintln(os.Stdout, n); err != nil {
				return err
			}
		}
		select {
		case <-stop:
			return j.Close()
		default:
		}
	}
	return err
}

// process is the other one.
type process struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startProcess(t *testing.T, path string) *process {
	t.Helper()
	program, err := os.Executable()
	must(t, err)
	p := &process{Cmd: exec.CommandContext(t.Context(), program)}
	p.Env, p.Dir = append(os.Environ(), childMark+"=1"), filepath.Dir(path)
	p.Stderr = os.Stderr
	p.in, err = p.StdinPipe()
	must(t, err)
	out, err := p.StdoutPipe()
	must(t, err)
	p.out = bufio.NewScanner(out)
	must(t, p.Start())
	return p
}

// committed waits for n commits, or for the process to end, and returns the last one's number.
func (p *process) committed(t *testing.T, n int) (last int) {
	t.Helper()
	for ; n > 0 && p.out.Scan(); n-- {
		var err error
		last, err = strconv.Atoi(p.out.Text())
		must(t, err)
	}
	return last
}

func TestAKilledProcessLosesNothingThatItCommitted(t *testing.T) {
	path := newFile(t)
	place := newPlace(path, tiny)
	h := newHistory()
	compacting := 0
	for kill := 0; kill < 25 || compacting == 0 && kill < 200; kill++ {
		p := startProcess(t, path)
		p.committed(t, 1+rand.IntN(100))
		must(t, p.Process.Kill())
		last := p.committed(t, 1<<30)
		_ = p.Wait()
		if unfinished(t, path) {
			compacting++
		}

		j := mustLead(t, place)
		got := load(t, j)
		n, err := strconv.Atoi(got["9/last"])
		if err != nil || n < last {
			t.Fatalf("kill %d: the file ends with group %q, but %d was committed", kill, got["9/last"], last)
		}
		for h.n < n {
			h.advance()
		}
		wantState(t, j, h.state)
		must(t, j.Close())
	}
	if compacting == 0 {
		t.Error("no kill hit a compaction")
	}
	t.Logf("%d groups, %d kills during a compaction", h.n, compacting)
}

// unfinished says whether the file has the beginning of another snapshot.
func unfinished(t *testing.T, path string) bool {
	t.Helper()
	db, err := openFile(path)
	must(t, err)
	names := strings.Join(buckets(t, db), " ")
	must(t, db.Close())
	return strings.Count(names, "snapshot-") > 1
}

func TestTheFileIsWaitedFor(t *testing.T) {
	path := newFile(t)
	p := startProcess(t, path)
	p.committed(t, 1)
	drained := make(chan int, 1)
	go func() { drained <- p.committed(t, 1<<30) }()

	t.Run("until the context ends", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := newPlace(path, tiny).Lead(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), path) {
			t.Errorf("Lead: %v, want the end of the context and the file", err)
		}
	})
	t.Run("which is told once, until the other one closes it", func(t *testing.T) {
		place := newPlace(path, tiny)
		if _, err := place.Lead(t.Context()); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "another fairlead api has the lease file open") {
			t.Fatalf("Lead: %v, want the file and who has it", err)
		}
		led := make(chan lease.Journal)
		go func() {
			j, err := place.Lead(t.Context())
			if err != nil {
				t.Error(err)
			}
			led <- j
		}()
		select {
		case <-time.After(2 * roundsUntilTold * lockRound): // longer than what is told takes
		case <-led:
			t.Fatal("it does not wait")
		}
		must(t, p.in.Close())
		j := <-led
		if j == nil {
			return
		}
		last := <-drained
		if got := load(t, j)["9/last"]; got != fmt.Sprint(last) {
			t.Errorf("the file ends with group %s, want %d", got, last)
		}
		must(t, j.Close())
		must(t, p.Wait())
	})
}
