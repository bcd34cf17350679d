package lease

import (
	"context"
	"slices"
)

// Report takes in what the client of a lease has seen, for the report's target, else the
// lease's, else for leases without a target. A lease that ended lately may still be
// reported on; when its proxy is gone, so is what the report would rest. Of a proxy's cooldowns
// beyond 1,000, those nearest to their ends go, bans that still rest last.
func (e *Engine) Report(_ context.Context, id string, may Holder, rep Report) error {
	now, err := e.begin()
	if err != nil {
		return err
	}
	err = e.report(id, may, rep, now)
	if kept := e.finish(); kept != nil {
		return kept
	}
	return err
}

func (e *Engine) report(id string, may Holder, rep Report, now moment) error {
	r, err := e.held(id, may)
	if err != nil {
		return err
	}
	if rep.Target == "" {
		rep.Target = r.target
	}
	first := rep.Result != ResultOK && !slices.Contains(r.reported, rep.Target)
	if first && len(r.reported) == maxTargets {
		return ErrTooManyTargets
	}
	if first {
		r.reported = append(r.reported, rep.Target)
		e.change(r.change())
	}
	if p := e.fleet.proxies[r.proxy.UID]; p != nil && p.sameAddress(r.proxy.Candidate) {
		e.reportOn(p, r, rep, first, now)
	}
	return nil
}

// reportOn takes in a report; first is set for the first bad one of a lease on a target.
func (e *Engine) reportOn(p *proxy, r *record, rep Report, first bool, now moment) {
	switch rep.Result {
	case ResultOK:
		e.passed(p, r, rep.Target, now)
	case ResultRateLimited:
		if rep.RetryAfter <= 0 {
			rep.RetryAfter = limitedFor
		}
		e.rest(p, rep.Target, rep.RetryAfter, now)
	case ResultBanned:
		if first {
			e.countBan(p, now)
		}
		e.ban(p, r, rep.Target, now)
	}
}
