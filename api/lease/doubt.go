package lease

import "time"

// grace is how long a new engine believes what is kept of a proxy more than the fleet that
// it is told: whoever begins to lead may see the fleet as it was a while ago.
const grace = 30 * time.Second

// doubt is about a proxy that something is kept of, and that no view of the fleet has
// confirmed yet. It is not lent meanwhile, and keeps what it has.
type doubt struct {
	proxy *proxy
	// view is the latest that was told of it, if anything, and older than what is kept.
	view  *Candidate
	alarm alarm
}

func newDoubt(p *proxy) *doubt {
	d := &doubt{proxy: p}
	d.alarm.rings = d
	return d
}

// take remembers an older view, if there is doubt; one of a proxy that was told already
// is of no use.
func (d *doubt) take(c Candidate) {
	if d != nil {
		d.view = &c
	}
}

func (e *Engine) beginGrace(d *doubt, now moment) {
	if d.alarm.index == 0 {
		e.set(&d.alarm, now+grace)
	}
}

// ring believes the view: no cache is behind for so long.
func (d *doubt) ring(e *Engine, now moment) {
	if d.view == nil {
		e.leave(d.proxy, now)
		return
	}
	d.proxy.Version = 0
	e.put(*d.view, now)
}

// trust ends the doubt about p.
func (e *Engine) trust(p *proxy) {
	if p.doubt != nil {
		e.unset(&p.doubt.alarm)
		p.doubt = nil
	}
}
