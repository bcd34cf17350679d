package sweep

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/temporal/wire"
)

// Mode is what is done about orphans.
type Mode string

// The modes.
const (
	// Delete deletes confirmed orphans, within the budget.
	Delete Mode = "delete"
	// Report tells of them and deletes nothing.
	Report Mode = "report"
	// Off does not look for them.
	Off Mode = "off"
)

var modes = []Mode{Delete, Report, Off}

// MaxKillBudget keeps the result of a sweep small, and its run short.
const MaxKillBudget = 50

// Orphans says what is done about instances of no object.
type Orphans struct {
	Mode Mode
	// MinAge is how old an instance must be by its provider's clock.
	MinAge time.Duration
	// KillBudget is how many may be deleted in one sweep.
	KillBudget int
	// Namespaces are those of our objects; empty for all. Instances of others are none
	// of ours: their objects are not looked at.
	Namespaces []string
}

// DefaultOrphans deletes slowly, and nothing that is new.
func DefaultOrphans() Orphans { return Orphans{Mode: Delete, MinAge: 10 * time.Minute, KillBudget: 5} }

// String is the mode as a flag has it.
func (m *Mode) String() string { return string(*m) }

// Set reads the mode from a flag.
func (m *Mode) Set(text string) error {
	if !slices.Contains(modes, Mode(text)) {
		return fmt.Errorf("it is none of %s", strings.Trim(fmt.Sprint(modes), "[]"))
	}
	*m = Mode(text)
	return nil
}

// Type names the value of the flag in help texts.
func (m *Mode) Type() string { return "mode" }

// inScope says whether instances of a namespace are ours.
func (o Orphans) inScope(namespace string) bool {
	return len(o.Namespaces) == 0 || slices.Contains(o.Namespaces, namespace)
}

// oldEnough says whether an instance cannot be one whose object is only not seen yet.
func (o Orphans) oldEnough(inst provider.Instance, now time.Time) bool {
	return !inst.CreatedAt.IsZero() && now.Sub(inst.CreatedAt) >= o.MinAge
}

// unowned are the instances that say they are ours and whose object there is none of.
func (v view) unowned(o Orphans) []wire.Suspect {
	alive := make(map[string]bool, len(v.proxies))
	for i := range v.proxies { // whatever its mode, provider and fate
		alive[string(v.proxies[i].UID)] = true
	}
	var all []wire.Suspect
	for _, inst := range v.listing.Instances {
		if inst.Owner.UID == "" || alive[inst.Owner.UID] || !o.inScope(inst.Owner.Namespace) || !o.oldEnough(inst, v.now) {
			continue
		}
		all = append(all, wire.Suspect{Place: inst.Place, Name: inst.Name, Incarnation: inst.Incarnation, UID: inst.Owner.UID})
	}
	slices.SortFunc(all, func(a, b wire.Suspect) int {
		return cmp.Or(cmp.Compare(a.Place, b.Place), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Incarnation, b.Incarnation))
	})
	return all
}

// suspects are what the next sweep may confirm, and how many of those that the last
// one suspected may be deleted now.
func (p *Provider) suspects(v view) (suspects []wire.Suspect, killBudget int) {
	if p.Orphans.Mode == Off {
		return nil, 0
	}
	all := wire.BoundSuspects(v.unowned(p.Orphans))
	if p.Orphans.Mode == Delete {
		return all, p.Orphans.KillBudget
	}
	if len(all) > 0 {
		p.Log.Warn("instances belong to no Proxy; --orphans=report leaves them alone", "provider", p.Name, "count", len(all), "first", all[0].Name, "place", all[0].Place, "uid", all[0].UID)
	}
	return all, 0
}
