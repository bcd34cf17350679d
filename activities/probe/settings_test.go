package probe_test

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fairlead/activities/probe"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

const defaultURL = "http://127.0.0.1:8099/"

func managed(edits ...func(*crawl.Proxy)) *crawl.Proxy {
	p := &crawl.Proxy{
		ObjectMeta: metav1.ObjectMeta{Namespace: "crawl", Name: "demo", UID: "uid-demo"},
		Spec:       crawl.ProxySpec{Mode: crawl.ModeManaged, Provider: "local", Port: 3128},
		Status: crawl.ProxyStatus{
			IP: "10.0.0.1", Port: 3129,
			Instances: []crawl.InstanceRecord{{Incarnation: 3}, {Incarnation: 2}},
		},
	}
	for _, edit := range edits {
		edit(p)
	}
	return p
}

func TestTargetOf(t *testing.T) {
	want := probe.Target{
		UID: "uid-demo", Incarnation: 3, Namespace: "crawl", Name: "demo",
		Proxy: probe.Endpoint{Scheme: "http", Host: "10.0.0.1", Port: 3129},
		Check: probe.Check{
			URLs: []string{defaultURL}, Quorum: 1, ExpectedStatus: 200, Interval: 30 * time.Second,
			Timeout: 10 * time.Second, SuccessThreshold: 1, FailureThreshold: 3,
		},
	}
	tests := []struct {
		name  string
		proxy *crawl.Proxy
		want  func(*probe.Target)
	}{
		{"a managed proxy is probed where its instance is", managed(), func(*probe.Target) {}},
		{"an external one where its endpoint says", managed(func(p *crawl.Proxy) {
			p.Spec = crawl.ProxySpec{Mode: crawl.ModeExternal, Endpoint: &crawl.Endpoint{Host: "proxy.example", Port: 1080, Scheme: crawl.SchemeSOCKS5}}
			p.Status.Instances = nil
		}), func(t *probe.Target) {
			t.Incarnation, t.Proxy = 0, probe.Endpoint{Scheme: "socks5", Host: "proxy.example", Port: 1080}
		}},
		{"the object's own settings go first", managed(func(p *crawl.Proxy) {
			p.Spec.HealthCheck = &crawl.HealthCheck{
				URLs: []string{"http://a", "http://b", "http://c", "http://d"}, ExpectedStatus: 204, BodyContains: "x",
				Interval: milliseconds(5000), Timeout: milliseconds(1000), SlowAfter: milliseconds(500),
				SuccessThreshold: 2, FailureThreshold: 5, Exit: &crawl.ExitCheck{EchoURL: "http://echo", Expect: "192.0.2.0/24", Unique: true},
			}
		}), func(t *probe.Target) {
			t.Check = probe.Check{
				URLs: []string{"http://a", "http://b", "http://c", "http://d"}, Quorum: 3, ExpectedStatus: 204, BodyContains: "x",
				Interval: 5 * time.Second, Timeout: time.Second, SlowAfter: 500 * time.Millisecond,
				SuccessThreshold: 2, FailureThreshold: 5,
				Exit: probe.Exit{EchoURL: "http://echo", Expect: netip.MustParsePrefix("192.0.2.0/24"), Unique: true},
			}
		}},
		{"the verdict is what the condition tells", managed(func(p *crawl.Proxy) {
			p.Status.Conditions = []metav1.Condition{{Type: crawl.ConditionHealthy, Status: metav1.ConditionFalse}}
			p.Status.LatencyMillis, p.Status.ExitIP = 12, "192.0.2.1"
		}), func(t *probe.Target) {
			t.Published = probe.Published{Known: true, Latency: 12 * time.Millisecond, ExitIP: "192.0.2.1"}
		}},
		{"an unknown condition tells nothing", managed(func(p *crawl.Proxy) {
			p.Status.Conditions = []metav1.Condition{{Type: crawl.ConditionHealthy, Status: metav1.ConditionUnknown}}
		}), func(*probe.Target) {}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := want
			tt.want(&want)
			got, ok := probe.TargetOf(tt.proxy, probe.Secrets{}, defaultURL)
			if !ok {
				t.Fatal("nothing to probe")
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Prefix{}), cmpopts.IgnoreTypes(&url.Userinfo{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTargetOfNothing(t *testing.T) {
	for name, edit := range map[string]func(*crawl.Proxy){
		"no address yet":      func(p *crawl.Proxy) { p.Status.IP = "" },
		"it is being deleted": func(p *crawl.Proxy) { p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} },
	} {
		if _, ok := probe.TargetOf(managed(edit), probe.Secrets{}, defaultURL); ok {
			t.Errorf("%s, and it is probed all the same", name)
		}
	}
}

func TestProblemsAreFoundInsteadOfProbing(t *testing.T) {
	check := func(h crawl.HealthCheck) func(*crawl.Proxy) { return func(p *crawl.Proxy) { p.Spec.HealthCheck = &h } }
	tests := []struct {
		name    string
		edit    func(*crawl.Proxy)
		secrets probe.Secrets
		url     string
		want    probe.Verdict
		says    string
	}{
		{"a Secret that cannot be read", func(*crawl.Proxy) {}, probe.Secrets{Err: errors.New("Secret crawl/auth does not exist: create it")}, defaultURL, probe.Auth, "create it"},
		{"a Secret without certificate", func(*crawl.Proxy) {}, probe.Secrets{CA: []byte("no PEM")}, defaultURL, probe.Dead, "no PEM certificate"},
		{"no URL anywhere", func(*crawl.Proxy) {}, probe.Secrets{}, "", probe.Dead, "--default-probe-url"},
		{"an exit that is no address", check(crawl.HealthCheck{Exit: &crawl.ExitCheck{Expect: "paris"}}), probe.Secrets{}, defaultURL, probe.Dead, `"paris" is neither`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			target, ok := probe.TargetOf(managed(tt.edit), tt.secrets, tt.url)
			if !ok {
				t.Fatal("nothing to probe")
			}
			if r := probe.Probe(t.Context(), target); r.Verdict != tt.want || !strings.Contains(r.Message, tt.says) {
				t.Errorf("got %+v, want %s with %q", r, tt.want, tt.says)
			}
		})
	}
}
