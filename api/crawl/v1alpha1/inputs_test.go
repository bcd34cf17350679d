package v1alpha1_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

func annotated(key, value string) *crawl.Proxy {
	return &crawl.Proxy{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{key: value}}}
}

func TestReplacePending(t *testing.T) {
	fits := strings.Repeat("a", crawl.MaxReplaceValue)
	tests := map[string]struct {
		asked string
		// seen is what the status was told; the default is nothing.
		seen func(p *crawl.Proxy) string
		want bool
	}{
		"nobody asked":                  {},
		"nobody asks any more":          {seen: func(*crawl.Proxy) string { return "a" }},
		"a wish":                        {asked: "a", want: true},
		"another one than was answered": {asked: "b", seen: func(*crawl.Proxy) string { return "a" }, want: true},
		"one that was answered":         {asked: "a", seen: (*crawl.Proxy).ReplaceAsked},
		"the longest that is kept":      {asked: fits, seen: func(*crawl.Proxy) string { return fits }},
		"a long one":                    {asked: fits + "a", want: true},
		"a long one that was answered":  {asked: fits + "a", seen: (*crawl.Proxy).ReplaceAsked},
		"another long one":              {asked: fits + "b", seen: func(*crawl.Proxy) string { return annotated(crawl.AnnotationReplace, fits+"a").ReplaceAsked() }, want: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := annotated(crawl.AnnotationReplace, tt.asked)
			if tt.seen != nil {
				p.Status.ObservedReplace = tt.seen(p)
			}
			if got := p.ReplacePending(); got != tt.want {
				t.Errorf("pending: %v", got)
			}
			if n := len(p.ReplaceAsked()); n > crawl.MaxReplaceValue {
				t.Errorf("the status would hold %d bytes", n)
			}
		})
	}
}

func TestBrakes(t *testing.T) {
	for value, want := range map[string]bool{"true": true, "false": false, "": false, "yes": false} {
		if p := annotated(crawl.AnnotationPaused, value); p.Paused() != want || p.SkipsCleanup() {
			t.Errorf("paused %q: %v, skips cleanup: %v", value, p.Paused(), p.SkipsCleanup())
		}
		if p := annotated(crawl.AnnotationSkipCleanup, value); p.SkipsCleanup() != want || p.Paused() {
			t.Errorf("skip-cleanup %q: %v, paused: %v", value, p.SkipsCleanup(), p.Paused())
		}
	}
}

func TestReleased(t *testing.T) {
	deleted := &metav1.Time{Time: time.Unix(1, 0)}
	others := []string{"example.com/other"}
	tests := map[string]struct {
		deletion   *metav1.Time
		finalizers []string
		status     crawl.ProxyStatus
		want       bool
	}{
		"one that lives":                         {finalizers: others},
		"one that our finalizer keeps":           {deletion: deleted, finalizers: append(others, crawl.Finalizer)},
		"one that only others keep":              {deletion: deleted, finalizers: others, want: true},
		"one that another operator managed last": {deletion: deleted, finalizers: others, status: crawl.ProxyStatus{ProviderID: "x"}},
		"one that we managed after it":           {deletion: deleted, finalizers: others, status: crawl.ProxyStatus{ProviderID: "x", Sequence: 3}, want: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := &crawl.Proxy{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: tt.deletion, Finalizers: tt.finalizers}, Status: tt.status}
			if got := p.Released(); got != tt.want {
				t.Errorf("released: %v", got)
			}
		})
	}
}

func TestBanLimit(t *testing.T) {
	type limit struct {
		count  int
		window time.Duration
	}
	for name, tt := range map[string]struct {
		replacement *crawl.Replacement
		want        limit
	}{
		"no replacement block": {},
		"no limit":             {replacement: &crawl.Replacement{}},
		"the window of the CRD": {
			replacement: &crawl.Replacement{Bans: &crawl.BanLimit{Count: 3}},
			want:        limit{3, 10 * time.Minute},
		},
		"a window of its own": {
			replacement: &crawl.Replacement{Bans: &crawl.BanLimit{Count: 3, Window: &metav1.Duration{Duration: time.Hour}}},
			want:        limit{3, time.Hour},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &crawl.Proxy{Spec: crawl.ProxySpec{Replacement: tt.replacement}}
			var got limit
			if got.count, got.window = p.BanLimit(); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
