package sweep

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

func TestAge(t *testing.T) {
	const day = 24 * time.Hour
	// fleet is size Proxies of which the first old ones are overdue, the first most.
	fleet := func(size, old int, changes ...change) []pair {
		var all []pair
		for i := range size {
			age := time.Hour
			if i < old {
				age = 10*day - time.Duration(i)*time.Hour
			}
			all = append(all, aPair(fmt.Sprintf("p%02d", i), append([]change{maxAge(day), aged(age)}, changes...)...))
		}
		return all
	}
	long := strings.Repeat("é", 200) // more than a status keeps as it is
	replacedFor := func(wish string) func(*crawl.Proxy) {
		return func(p *crawl.Proxy) {
			p.Annotations[crawl.AnnotationReplace], p.Status.ObservedReplace = wish, wish
		}
	}
	tests := map[string]struct {
		pairs []pair
		want  []string
	}{
		"a young instance":                    {pairs: fleet(1, 0)},
		"an old one":                          {pairs: fleet(1, 1), want: []string{"p00"}},
		"an old one at a banned address":      {pairs: fleet(1, 1, reason(wire.ReasonSameAddress)), want: []string{"p00"}},
		"one just over the age":               {pairs: []pair{aPair("a", maxAge(day), aged(day))}, want: []string{"a"}},
		"one a tenth under the age":           {pairs: []pair{aPair("a", maxAge(day), aged(day*9/10-time.Second))}},
		"no maxAge":                           {pairs: []pair{aPair("a", aged(100*day))}},
		"an age that nobody knows":            {pairs: fleet(1, 1, inst(func(i *provider.Instance) { i.CreatedAt = time.Time{} }))},
		"an instance that is not seen":        {pairs: fleet(1, 1, noInstance)},
		"another incarnation":                 {pairs: fleet(1, 1, inst(func(i *provider.Instance) { i.Incarnation = 4 }))},
		"a paused Proxy":                      {pairs: fleet(1, 1, annotated(crawl.AnnotationPaused, "true"))},
		"a Proxy that is being deleted":       {pairs: fleet(1, 1, deleting)},
		"a Proxy that waits":                  {pairs: fleet(1, 1, phase(crawl.PhaseWaiting))},
		"a wish that is pending stays":        {pairs: fleet(1, 1, annotated(crawl.AnnotationReplace, "by hand"))},
		"a wish that was answered goes":       {pairs: fleet(1, 1, annotated(crawl.AnnotationReplace, "by hand"), proxied(func(p *crawl.Proxy) { p.Status.ObservedReplace = "by hand" })), want: []string{"p00"}},
		"a wish of ours that was answered":    {pairs: fleet(1, 1, annotated(crawl.AnnotationReplace, "max-age/3"), proxied(func(p *crawl.Proxy) { p.Status.ObservedReplace = "max-age/3" }))},
		"at least one at a time":              {pairs: fleet(5, 5), want: []string{"p00"}},
		"a tenth at a time, the oldest first": {pairs: fleet(29, 29), want: []string{"p00", "p01"}},
		"those under way count":               {pairs: append(fleet(29, 29), aPair("x", phase(crawl.PhaseDraining))), want: []string{"p00", "p01"}},
		"and leave no room":                   {pairs: append(fleet(18, 18), aPair("x", phase(crawl.PhaseReplacing)), aPair("y", phase(crawl.PhaseProvisioning)))},
		"as does a pending wish":              {pairs: append(fleet(8, 8), aPair("x", annotated(crawl.AnnotationReplace, "by hand")))},
		"a long wish that was answered does not": {pairs: append(fleet(8, 8), aPair("x", annotated(crawl.AnnotationReplace, long), proxied(func(p *crawl.Proxy) {
			p.Status.ObservedReplace = p.ReplaceAsked()
		}))), want: []string{"p00"}},
		"and it is old some day": {pairs: fleet(1, 1, annotated(crawl.AnnotationReplace, long), proxied(func(p *crawl.Proxy) {
			p.Status.ObservedReplace = p.ReplaceAsked()
		})), want: []string{"p00"}},
		"one that never was made holds the others back":        {pairs: append(fleet(8, 8), aPair("x", phase("")))},
		"one that nothing was done for yet does":               {pairs: append(fleet(8, 8), aPair("x", phase(crawl.PhasePending)))},
		"one that waits for room does":                         {pairs: append(fleet(8, 8), aPair("x", phase(crawl.PhaseWaiting), noInstance))},
		"one that failed does":                                 {pairs: append(fleet(8, 8), aPair("x", phase(crawl.PhaseFailed), noInstance))},
		"one whose replacement is unhealthy does":              {pairs: append(fleet(8, 8), aPair("x", phase(crawl.PhaseUnhealthy), proxied(replacedFor("max-age/2"))))},
		"one that is unhealthy by itself does not":             {pairs: append(fleet(8, 8), aPair("x", phase(crawl.PhaseUnhealthy))), want: []string{"p00"}},
		"nor one that was replaced by hand since":              {pairs: append(fleet(8, 8), aPair("x", phase(crawl.PhaseUnhealthy), proxied(replacedFor("by hand")))), want: []string{"p00"}},
		"nor one whose replacement is well":                    {pairs: append(fleet(8, 8), aPair("x", proxied(replacedFor("max-age/2")))), want: []string{"p00"}},
		"nor one that failed and is paused":                    {pairs: append(fleet(8, 8), aPair("x", phase(crawl.PhaseFailed), annotated(crawl.AnnotationPaused, "true"))), want: []string{"p00"}},
		"nor one that failed and is being deleted":             {pairs: append(fleet(8, 8), aPair("x", phase(crawl.PhaseFailed), deleting)), want: []string{"p00"}},
		"where replacements fail, a tenth is all that is lost": {pairs: append(fleet(18, 18), aPair("x", phase(crawl.PhaseFailed)), aPair("y", phase(crawl.PhaseWaiting)))},
		"those that are deleted do not":                        {pairs: append(fleet(8, 8), aPair("x", deleting, phase(crawl.PhaseDraining))), want: []string{"p00"}},
		"nor do other providers' Proxies":                      {pairs: append(fleet(8, 8), aPair("x", phase(crawl.PhaseDraining), proxied(func(p *crawl.Proxy) { p.Spec.Provider = "gcp" }))), want: []string{"p00"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range see(tt.pairs...).aged() {
				got = append(got, p.Name)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("asked to replace (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAgeIsJittered: a fleet that was made at once does not go at once, and each
// instance keeps its time.
func TestAgeIsJittered(t *testing.T) {
	seen := map[time.Time]bool{}
	for i := range 100 {
		v := see(aPair(fmt.Sprint(i), maxAge(100*time.Hour), aged(time.Hour)))
		since := v.dueSince(&v.proxies[0], v.instances())
		if again := v.dueSince(&v.proxies[0], v.instances()); !since.Equal(again) {
			t.Fatalf("due at %s, then at %s", since, again)
		}
		if age := since.Sub(v.listing.Instances[0].CreatedAt); age < 90*time.Hour || age > 100*time.Hour {
			t.Errorf("an instance is due at the age of %s", age)
		}
		seen[since.Truncate(time.Hour)] = true
	}
	if len(seen) < 9 {
		t.Errorf("100 instances are due within %d different hours", len(seen))
	}
	v := see(aPair("a", maxAge(100*time.Hour)))
	next := see(aPair("a", maxAge(100*time.Hour), func(p *pair) {
		p.instance.Incarnation, p.proxy.Status.Instances[0].Incarnation = 4, 4
	}))
	if v.dueSince(&v.proxies[0], v.instances()).Equal(next.dueSince(&next.proxies[0], next.instances())) {
		t.Error("the next incarnation is due after the same age")
	}
}
