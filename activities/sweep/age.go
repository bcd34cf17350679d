package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/api/crawl/ref"
	"example.com/fairlead/api/crawl/replace"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

const (
	// ageJitter is the part of maxAge by which instances go earlier, each by another.
	ageJitter = 0.1
	// rolling is the part of a provider's Proxies that may be on their way to another
	// instance at a time.
	rolling = 0.1
)

// aged are the Proxies whose instance is to be replaced now because of its age, the
// one that is due for longest first.
func (v view) aged() []*crawl.Proxy {
	type due struct {
		proxy *crawl.Proxy
		since time.Time
	}
	var all []due
	room, instances := v.room(), v.instances()
	for _, p := range v.managed() {
		if since := v.dueSince(p, instances); !since.IsZero() && !since.After(v.now) {
			all = append(all, due{p, since})
		}
	}
	slices.SortFunc(all, func(a, b due) int {
		return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.proxy.UID, b.proxy.UID))
	})
	var now []*crawl.Proxy
	for _, d := range all[:min(len(all), room)] {
		now = append(now, d.proxy)
	}
	return now
}

// dueSince is when p's instance became, or becomes, too old; zero for never.
func (v view) dueSince(p *crawl.Proxy, instances map[provider.ID]*provider.Instance) time.Time {
	r, entry := p.Spec.Replacement, v.current(p)
	if r == nil || r.MaxAge == nil || entry == nil || !steady(p, wire.ReasonCreated, wire.ReasonSameAddress) || p.ReplacePending() || p.Annotations[crawl.AnnotationReplace] == agedValue(entry) {
		return time.Time{}
	}
	inst := instances[provider.ID{Place: entry.Place, Name: entry.Name}]
	if inst == nil || inst.Incarnation != entry.Incarnation || inst.CreatedAt.IsZero() {
		return time.Time{}
	}
	early := time.Duration(float64(r.MaxAge.Duration) * ageJitter * fraction(string(p.UID), entry.Incarnation))
	return inst.CreatedAt.Add(r.MaxAge.Duration - early)
}

// room is how many replacements may begin now.
func (v view) room() int {
	total, busy := 0, 0
	for _, p := range v.managed() {
		if !p.DeletionTimestamp.IsZero() {
			continue
		}
		total++
		if !atRestWell(p) {
			busy++
		}
	}
	return max(0, max(1, int(float64(total)*rolling))-busy)
}

// atRestWell says whether p needs no other instance, nor waits for one. Those whose
// replacement failed do: or, where none can be made, the next ones would go the same
// way, until the whole fleet is gone. A paused one goes nowhere.
func atRestWell(p *crawl.Proxy) bool {
	switch {
	case p.Paused():
		return true
	case p.ReplacePending():
		return false
	case p.Status.Phase == crawl.PhaseUnhealthy: // by its replacement, or by itself
		return !strings.HasPrefix(p.Status.ObservedReplace, wire.MaxAgePrefix)
	}
	return p.Status.Phase == crawl.PhaseReady
}

func agedValue(entry *crawl.InstanceRecord) string {
	return wire.MaxAgePrefix + strconv.FormatInt(entry.Incarnation, 10)
}

// fraction is a number from 0 to 1 that stays the same for one instance.
func fraction(uid string, incarnation int64) float64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s/%d", uid, incarnation) // a hash takes everything
	return float64(h.Sum64()) / math.MaxUint64
}

// replaceAged asks for other instances on the objects of aged ones.
func (p *Provider) replaceAged(ctx context.Context, v view) (done int, err error) {
	var problems []error
	for _, proxy := range v.aged() {
		entry := v.current(proxy)
		err := replace.Write(ctx, p.Live, proxy.DeepCopy(), agedValue(entry))
		switch {
		case apierrors.IsConflict(err), apierrors.IsNotFound(err): // the next look sees what changed
		case err != nil:
			problems = append(problems, fmt.Errorf("ask for another instance of Proxy %s, which is too old: %w", ref.Of(proxy), err))
		default:
			done++
			p.Log.Info("an instance is older than replacement.maxAge: asked for another one", "provider", p.Name, "proxy", ref.Of(proxy).String(), "incarnation", entry.Incarnation)
		}
	}
	return done, errors.Join(problems...)
}
