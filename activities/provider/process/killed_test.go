package process_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/process"
	"example.com/fairlead/activities/provider/providertest"
)

// What this test program does as another program that uses the state directory.
const (
	asCreator = "create"
	asDeleter = "delete"
)

// runCall calls a provider of the state directory once.
func runCall(as, stateDir string) int {
	p, err := process.New(process.Options{
		Settings:  process.Settings{StateDir: stateDir},
		ClusterID: providertest.Cluster,
		Command:   []string{os.Args[0], asProxy},
	})
	if err == nil && as == asCreator {
		_, err = p.Create(context.Background(), request(context.Background(), p, "a"))
	} else if err == nil {
		err = p.Delete(context.Background(), request(context.Background(), p, "a").ID)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// killAfter runs a call in another program and kills that after a while.
func (b *backend) killAfter(as string, after time.Duration) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), after)
	defer cancel()
	_ = exec.CommandContext(ctx, os.Args[0], as, b.options.StateDir).Run() // the kill is its error
}

// The kills walk through a call in steps that are shorter than its parts.
const (
	kills    = 24
	killStep = 2 * time.Millisecond
)

func TestACreateThatIsKilledAnywhereIsMadeGoodByTheNext(t *testing.T) {
	b := newBackend(t)
	p, req := b.open(), b.request("a")
	for i := range kills {
		b.killAfter(asCreator, time.Duration(i)*killStep)
		inst := create(t, p, req)
		if inst.State != provider.Running {
			t.Fatalf("after %v create returned %+v", time.Duration(i)*killStep, inst)
		}
		eventually(t, "one process runs", func() bool { return proxies(t, b.options.StateDir) == 1 })
		if err := p.Delete(t.Context(), req.ID); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "no process runs", func() bool { return proxies(t, b.options.StateDir) == 0 })
}

func TestACreateThatIsKilledAnywhereLeavesNothingAfterDelete(t *testing.T) {
	b := newBackend(t)
	for i := range kills {
		b.killAfter(asCreator, time.Duration(i)*killStep)
		if err := b.open().Delete(t.Context(), b.request("a").ID); err != nil {
			t.Fatal(err)
		}
		eventually(t, "no process runs", func() bool { return proxies(t, b.options.StateDir) == 0 })
	}
	if left := b.glob("proxy-*"); len(left) != 0 {
		t.Errorf("the state directory holds %v", left)
	}
}

func TestADeleteThatIsKilledAnywhereIsFinishedByTheNext(t *testing.T) {
	b := newBackend(t)
	p, req := b.open(), b.request("a")
	for i := range kills {
		create(t, p, req)
		b.killAfter(asDeleter, time.Duration(i)*killStep)
		if err := p.Delete(t.Context(), req.ID); err != nil {
			t.Fatal(err)
		}
		eventually(t, "no process runs", func() bool { return proxies(t, b.options.StateDir) == 0 })
	}
}
