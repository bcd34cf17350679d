package controlplane

import (
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// contents reads every file of a directory.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, f.Name())) // #nosec G304 -- a path of the test
		if err != nil {
			t.Fatal(err)
		}
		found[f.Name()] = string(data)
	}
	return found
}

// changed names the files that differ.
func changed(before, after map[string]string) map[string]bool {
	names := map[string]bool{}
	for name, data := range after {
		if before[name] != data {
			names[name] = true
		}
	}
	return names
}

func TestCertificates(t *testing.T) {
	first := Options{}.withDefaults()
	elsewhere := Options{Address: "10.200.7.2"}.withDefaults()
	tests := []struct {
		name    string
		options Options
		later   time.Duration
		damage  func(dir string) error
		want    map[string]bool
	}{
		{name: "are kept by a restart", options: first, later: time.Hour, want: map[string]bool{}},
		{
			name: "of the API server is renewed for a new address", options: elsewhere, later: time.Hour,
			want: map[string]bool{"apiserver.crt": true, "apiserver.key": true},
		},
		{
			name: "half written is made anew", options: first, later: time.Hour,
			damage: func(dir string) error { return os.Remove(filepath.Join(dir, "etcd.crt")) },
			want:   map[string]bool{"etcd.crt": true, "etcd.key": true},
		},
		{
			name: "near their end are renewed, authorities and the service account key are not", options: first,
			later: leafLife - renewBefore + time.Hour,
			want: map[string]bool{
				"admin.crt": true, "admin.key": true, "apiserver.crt": true, "apiserver.key": true,
				"apiserver-etcd-client.crt": true, "apiserver-etcd-client.key": true,
				"apiserver-kubelet-client.crt": true, "apiserver-kubelet-client.key": true,
				"controller-manager.crt": true, "controller-manager.key": true,
				"etcd.crt": true, "etcd.key": true, "kube-proxy.crt": true, "kube-proxy.key": true,
				"kubelet.crt": true, "kubelet.key": true, "scheduler.crt": true, "scheduler.key": true,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := ensurePKI(dir, first, epoch); err != nil {
				t.Fatal(err)
			}
			before := contents(t, dir)
			if tt.damage != nil {
				if err := tt.damage(dir); err != nil {
					t.Fatal(err)
				}
			}
			if err := ensurePKI(dir, tt.options, epoch.Add(tt.later)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, changed(before, contents(t, dir))); diff != "" {
				t.Errorf("changed files (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewAuthorityReplacesWhatTheOldOneSigned(t *testing.T) {
	dir := t.TempDir()
	o := Options{}.withDefaults()
	if err := ensurePKI(dir, o, epoch); err != nil {
		t.Fatal(err)
	}
	later := epoch.Add(authorityLife - leafLife + time.Hour)
	if err := ensurePKI(dir, o, later); err != nil {
		t.Fatal(err)
	}
	for signer, names := range map[string][]string{
		authorityCluster: {certAPIServer, certKubeletClient, string(Admin)},
		authorityEtcd:    {certEtcd, certEtcdClient},
	} {
		root, _, err := readPair(dir, signer)
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AddCert(root)
		for _, name := range names {
			cert, _, err := readPair(dir, name)
			if err != nil {
				t.Fatal(err)
			}
			_, err = cert.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: later, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestKeysArePrivate(t *testing.T) {
	dir := t.TempDir()
	if err := ensurePKI(dir, Options{}.withDefaults(), epoch); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", f.Name(), info.Mode())
		}
	}
}

func TestEtcdDoesNotTrustTheClusterAuthority(t *testing.T) {
	dir := t.TempDir()
	if err := ensurePKI(dir, Options{}.withDefaults(), epoch); err != nil {
		t.Fatal(err)
	}
	etcd, _, err := readPair(dir, authorityEtcd)
	if err != nil {
		t.Fatal(err)
	}
	admin, _, err := readPair(dir, string(Admin))
	if err != nil {
		t.Fatal(err)
	}
	if err := admin.CheckSignatureFrom(etcd); err == nil {
		t.Error("an administrator's certificate opens etcd")
	}
}

func TestAPIServerAnswersToTheServiceAddress(t *testing.T) {
	got := Options{ServiceCIDR: "10.96.7.0/24"}.firstServiceIP()
	if want := net.IPv4(10, 96, 7, 1); !got.Equal(want) {
		t.Errorf("first address is %v, want %v", got, want)
	}
}
