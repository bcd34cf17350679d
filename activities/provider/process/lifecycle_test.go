package process_test

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/process"
	"example.com/fairlead/activities/provider/providertest"
	"example.com/fairlead/internal/eventually"
)

// rebooted makes the machine look as if it had been booted since.
func rebooted(o *process.Options) {
	o.BootID = func() (string, error) { return "another boot", nil }
}

// program makes instances run another program.
func program(command ...string) func(*process.Options) {
	return func(o *process.Options) { o.Command = command }
}

// network makes instances live in another network.
func network(cidr string) func(*process.Options) {
	return func(o *process.Options) { o.Network = cidr }
}

func TestADeadProcessIsStoppedAndStaysSo(t *testing.T) {
	b := newBackend(t)
	p, req := b.open(), b.request("a")
	create(t, p, req)
	b.kill()
	for what, inst := range map[string]provider.Instance{"get": get(t, p, req), "create": create(t, p, req)} {
		if inst.State != provider.Stopped || inst.Host != "" || !strings.Contains(inst.Message, "proxy listens") {
			t.Errorf("%s returned %+v", what, inst)
		}
	}
	if err := p.Delete(t.Context(), req.ID); err != nil {
		t.Fatal(err)
	}
	if left := b.glob("[^.]*"); len(left) != 0 {
		t.Errorf("the state directory holds %v", left)
	}
}

func TestAProcessOfAFormerBootIsHaltedAndStartedAtItsAddress(t *testing.T) {
	b := newBackend(t)
	req := b.request("a")
	before := create(t, b.open(), req)
	b.kill()
	p := b.open(rebooted)
	if inst := get(t, p, req); inst.State != provider.Halted {
		t.Errorf("get returned %+v", inst)
	}
	if diff := cmp.Diff(before, create(t, p, req)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

func TestAHaltedInstanceWhoseAddressIsTakenWaits(t *testing.T) {
	b := newBackend(t)
	req := b.request("a")
	inst := create(t, b.open(), req)
	b.kill()
	l, err := net.Listen("tcp", netip.AddrPortFrom(netip.MustParseAddr(inst.Host), uint16(inst.Port)).String())
	if err != nil {
		t.Fatal(err)
	}
	p := b.open(rebooted)
	_, err = p.Create(t.Context(), req)
	if !errors.Is(provider.Class(err), provider.ErrTransient) || !strings.Contains(err.Error(), fmt.Sprintf("process %d ", os.Getpid())) {
		t.Errorf("create: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if again := create(t, p, req); again.Host != inst.Host || again.State != provider.Running {
		t.Errorf("create returned %+v", again)
	}
}

// A call that is killed leaves what it had done so far; each of these is one
// moment of Create or Delete at which it may be.
func TestCreateConvergesFromAnyMoment(t *testing.T) {
	for name, interrupt := range map[string]func(t *testing.T, b *backend){
		"while the directory was being made": func(t *testing.T, b *backend) {
			if err := os.Rename(b.glob("proxy-*")[0], filepath.Join(b.options.StateDir, ".new-1")); err != nil {
				t.Fatal(err)
			}
		},
		"before the process was started": func(t *testing.T, b *backend) {
			if err := os.Truncate(b.glob("*/life-*")[0], 0); err != nil {
				t.Fatal(err)
			}
		},
		"while the process wrote its note": func(t *testing.T, b *backend) {
			if err := os.Truncate(b.glob("*/life-*")[0], 7); err != nil {
				t.Fatal(err)
			}
		},
		"while the directory was being removed": func(t *testing.T, b *backend) {
			gone := filepath.Join(b.options.StateDir, ".gone-1")
			if err := os.Rename(b.glob("proxy-*")[0], gone); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(gone, "instance.json")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBackend(t)
			p, req := b.open(), b.request("a")
			create(t, p, req)
			b.kill()
			interrupt(t, b)
			if inst := create(t, p, req); inst.State != provider.Running {
				t.Errorf("create returned %+v", inst)
			}
			if left := b.glob("*"); len(left) != 3 { // the identity, the lock and the instance
				t.Errorf("the state directory holds %v", left)
			}
			if err := p.Delete(t.Context(), req.ID); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Get(t.Context(), req.ID); !errors.Is(err, provider.ErrNotFound) {
				t.Errorf("get after delete: %v", err)
			}
		})
	}
}

func TestAnInstanceThatWasNotStartedIsStopped(t *testing.T) {
	b := newBackend(t)
	p, req := b.open(), b.request("a")
	create(t, p, req)
	b.kill()
	if err := os.Truncate(b.glob("*/life-*")[0], 0); err != nil {
		t.Fatal(err)
	}
	if inst := get(t, p, req); inst.State != provider.Stopped || inst.Message != "the process was not started" {
		t.Errorf("get returned %+v", inst)
	}
}

func TestDeleteEndsAProcessWhateverIsLeftOfItsDirectory(t *testing.T) {
	for name, damage := range map[string]func(string) error{
		"the record is gone":   os.Remove,
		"the record is cut":    func(path string) error { return os.Truncate(path, 10) },
		"the record is no use": func(path string) error { return os.WriteFile(path, []byte(`{}`), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBackend(t)
			p, req := b.open(), b.request("a")
			create(t, p, req)
			pid := b.pid()
			record := b.glob("*/instance.json")[0]
			if err := damage(record); err != nil {
				t.Fatal(err)
			}
			if inst := get(t, p, req); inst.State != provider.Stopped || !strings.Contains(inst.Message, record) {
				t.Errorf("get returned %+v", inst)
			}
			if l, err := p.List(t.Context()); err != nil || !strings.Contains(l.Incomplete["local"], record) {
				t.Errorf("list returned %+v, %v", l, err)
			}
			if err := p.Delete(t.Context(), req.ID); err != nil {
				t.Fatal(err)
			}
			eventually.Until(t, "the process has ended", func() bool { return ended(pid) })
			if left := b.glob("[^.]*"); len(left) != 0 {
				t.Errorf("the state directory holds %v", left)
			}
		})
	}
}

func TestDeleteAllEndsTheProcessesOfAllClusters(t *testing.T) {
	b := newBackend(t)
	create(t, b.open(), b.request("a"))
	create(t, b.open(), b.request("b"))
	if err := b.open().Disown(t.Context(), b.request("b").ID); err != nil {
		t.Fatal(err)
	}
	if err := b.open(func(o *process.Options) { o.ClusterID = providertest.OtherCluster }).DeleteAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually.Until(t, "no process runs", func() bool { return proxies(t, b.options.StateDir) == 0 })
	if left := b.glob("[^.]*"); len(left) != 0 {
		t.Errorf("the state directory holds %v", left)
	}
}

func TestDeleteKillsAProcessThatIgnoresSIGTERM(t *testing.T) {
	b := newBackend(t)
	p, req := b.open(program(os.Args[0], asStubbornProxy)), b.request("a")
	create(t, p, req)
	pid := b.pid()
	if err := p.Delete(t.Context(), req.ID); err != nil {
		t.Fatal(err)
	}
	eventually.Until(t, "the process has ended", func() bool { return ended(pid) })
}
