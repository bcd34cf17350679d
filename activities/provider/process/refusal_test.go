package process_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/process"
	"example.com/fairlead/activities/provider/providertest"
)

func TestAProcessThatCannotServeIsAnErrorAndLeavesNothing(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		command []string
		class   error
		says    []string
	}{
		"it dies at once":          {[]string{"/bin/sh", "-c", "echo first; echo last words; exit 7"}, provider.ErrTransient, []string{"exit status 7", "last words"}},
		"it dies without a word":   {[]string{"/bin/false"}, provider.ErrTransient, []string{"exit status 1", "nothing"}},
		"there is no such program": {[]string{"/nowhere/fairlead", "proxy"}, provider.ErrPermanent, []string{"/nowhere/fairlead"}},
		"it cannot be executed":    {[]string{text, "proxy"}, provider.ErrPermanent, []string{text, "permission denied"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBackend(t)
			_, err := b.open(program(test.command...)).Create(t.Context(), b.request("a"))
			if !errors.Is(provider.Class(err), test.class) {
				t.Errorf("the class of %v is %v", err, provider.Class(err))
			}
			for _, want := range test.says {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("the error %v does not say %q", err, want)
				}
			}
			if left := b.glob("[^.]*"); len(left) != 0 {
				t.Errorf("the state directory holds %v", left)
			}
			if inst := create(t, b.open(), b.request("a")); inst.State != provider.Running {
				t.Errorf("with a good program create returned %+v", inst)
			}
		})
	}
}

func TestATakenAddressIsPassedOver(t *testing.T) {
	b := newBackend(t)
	small := network("127.64.8.0/30") // two addresses
	probe := create(t, b.open(small), b.request("a"))
	if err := b.open(small).Delete(t.Context(), b.request("a").ID); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(probe.Host, "3128"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if inst := create(t, b.open(small), b.request("a")); inst.Host == probe.Host {
		t.Errorf("the instance has the taken address %s", inst.Host)
	}

	// Now one address belongs to this program and the other to the instance.
	_, err = b.open(small).Create(t.Context(), b.request("b"))
	if !errors.Is(err, provider.ErrTransient) || !strings.Contains(err.Error(), "127.64.8.") {
		t.Errorf("create: %v", err)
	}
	if s := b.open(small).Check(t.Context())[0]; s.Ready || s.Reason != "NoFreeAddress" {
		t.Errorf("the verdict is %+v", s)
	}
}

func TestNoMoreInstancesThanAllowed(t *testing.T) {
	b := newBackend(t)
	p := b.open(func(o *process.Options) { o.MaxInstances = 1 })
	create(t, p, b.request("a"))
	if _, err := p.Create(t.Context(), b.request("b")); !errors.Is(err, provider.ErrQuotaExceeded) {
		t.Errorf("create: %v", err)
	}
	if inst := create(t, p, b.request("a")); inst.State != provider.Running {
		t.Errorf("the one there is came back as %+v", inst)
	}
	if s := p.Check(t.Context())[0]; s.Ready || s.Reason != "InstancesExhausted" {
		t.Errorf("the verdict is %+v", s)
	}
}

func TestCheckFindsWhatIsMissing(t *testing.T) {
	b := newBackend(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for reason, p := range map[string]*process.Provider{
		"StateDirNotWritable":  b.open(func(o *process.Options) { o.StateDir = filepath.Join(file, "state") }),
		"ProgramNotExecutable": b.open(program("/nowhere/fairlead")),
	} {
		if s := p.Check(t.Context())[0]; s.Ready || s.Reason != reason || s.Message == "" {
			t.Errorf("the verdict is %+v, want %s", s, reason)
		}
	}
}

func TestAFullDiskIsAQuota(t *testing.T) {
	b := newBackend(t)
	var p *process.Provider
	var req provider.Request
	dir := fullDisk(t, func(dir string) {
		p = b.open(func(o *process.Options) { o.StateDir = dir })
		req = request(t.Context(), p, "a")
	})
	if _, err := p.Create(t.Context(), req); !errors.Is(err, provider.ErrQuotaExceeded) || !strings.Contains(err.Error(), dir) {
		t.Errorf("create: %v", err)
	}
	if s := p.Check(t.Context())[0]; s.Ready || s.Reason != "StateDirNotWritable" {
		t.Errorf("the verdict is %+v", s)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	for settings, says := range map[string]string{
		`{}`:                  "stateDir is missing",
		`{"stateDir": "rel"}`: "relative",
		`{"stateDir": "/x", "network": "10.0.0.0/8"}`:   "127.0.0.0/8",
		`{"stateDir": "/x", "network": "127.0.0.1/32"}`: "at least 4 addresses",
		`{"stateDir": "/x", "network": "here"}`:         "process.network",
		`{"stateDir": "/x", "netwrk": ""}`:              `"netwrk"`,
	} {
		_, err := process.Builder(process.Options{ClusterID: providertest.Cluster})("local", []byte(settings))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: the error is %v, want one that says %q", settings, err, says)
		}
	}
}

func TestAReplacementHasAnotherAddress(t *testing.T) {
	b := newBackend(t)
	p := b.open()
	seen := map[string]bool{}
	for i := range int64(3) {
		req := b.request("a")
		req.Incarnation = i + 1
		seen[create(t, p, req).Host] = true
		if err := p.Delete(t.Context(), req.ID); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 3 {
		t.Errorf("three incarnations had the addresses %v", seen)
	}
}

func TestCreatedAtIsTheClocks(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	b := newBackend(t)
	p := b.open(func(o *process.Options) { o.Now = func() time.Time { return at } })
	if inst := create(t, p, b.request("a")); !inst.CreatedAt.Equal(at) {
		t.Errorf("created at %v", inst.CreatedAt)
	}
}
