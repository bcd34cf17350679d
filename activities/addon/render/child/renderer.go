// Package child renders charts in processes of their own, so that a chart that never ends, or
// ends its process, is one add-on's trouble only.
package child

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/render"
)

const (
	defaultTimeout   = time.Minute
	defaultMaxMemory = 512 << 20
	defaultIdle      = 30 * time.Second
	defaultRenders   = 200
	// parallel is how many renders run at the same time: each takes a core.
	parallel = 2
)

// Renderer renders with children that it starts when needed, and keeps for a while. What a
// child is asked goes through its standard input: it may be secret.
type Renderer struct {
	// Command is the program and the arguments of a child, which calls Serve.
	Command []string
	// Timeout of a render; 0 is a minute.
	Timeout time.Duration
	// MaxMemory in bytes: a child that takes more is ended soon; 0 is 512 MiB.
	MaxMemory int64
	// Idle is how long a child is kept without work; 0 is 30 s.
	Idle time.Duration
	// Renders is how many a child does before it is replaced; 0 is 200.
	Renders int

	once  sync.Once
	slots chan struct{}
	mu    sync.Mutex
	idle  []*process // the one that was used last is last
}

// Chart is render.Chart and the set of its result, rendered by a child. The child never knows
// req.Hash. If the chart ends the child, or takes too long, the error says so.
func (r *Renderer) Chart(
	ctx context.Context, archive []byte, req render.Request,
) (set manifest.Set, answers []render.Answer, digest render.Digest, err error) {
	if digest, err = req.DigestOf(render.ArchiveDigest(archive)); err != nil {
		return manifest.Set{}, nil, render.Digest{}, err
	}
	set, answers, err = r.render(ctx, archive, req)
	if err != nil {
		return manifest.Set{}, nil, render.Digest{}, err
	}
	return set, answers, digest, nil
}

func (r *Renderer) render(ctx context.Context, archive []byte, req render.Request) (manifest.Set, []render.Answer, error) {
	r.once.Do(func() { r.slots = make(chan struct{}, parallel) })
	select {
	case r.slots <- struct{}{}:
	case <-ctx.Done():
		return manifest.Set{}, nil, fmt.Errorf("render the chart for release %s: wait for a renderer: %w", req.Release, context.Cause(ctx))
	}
	defer func() { <-r.slots }()
	p, err := r.take()
	if err != nil {
		return manifest.Set{}, nil, err
	}
	e := exchange{process: p, req: req}
	err = r.within(ctx, p, func(ctx context.Context) error { return e.render(ctx, archive) })
	if err != nil {
		return manifest.Set{}, nil, fmt.Errorf("render the chart for release %s: %w", req.Release, err)
	}
	r.keep(p)
	return e.result()
}

// within does what needs p, and ends p if that fails, or takes too long or too much.
func (r *Renderer) within(ctx context.Context, p *process, do func(context.Context) error) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(r.Timeout, defaultTimeout), ErrTime)
	defer cancel()
	var watched sync.WaitGroup
	watched.Go(func() { p.watch(ctx, r.maxMemory(), func() { end(ErrMemory) }) })
	stop := context.AfterFunc(ctx, p.kill)
	err := do(ctx)
	if stop() && err == nil {
		cancel()
		watched.Wait()
		return nil
	}
	ended := p.ends()
	why := context.Cause(ctx)
	cancel()
	watched.Wait()
	p.end()
	switch {
	case why != nil:
		return why
	case ended:
		return p.reason()
	}
	return err
}

// take is an idle child, or a new one.
func (r *Renderer) take() (*process, error) {
	if p := r.spare(); p != nil {
		return p, nil
	}
	return start(r.Command, r.maxMemory())
}

// spare is an idle child that lives, or nil.
func (r *Renderer) spare() *process {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.idle) > 0 {
		last := len(r.idle) - 1
		p := r.idle[last]
		r.idle = r.idle[:last]
		p.expiry.Stop()
		if !p.ended() {
			return p
		}
		p.end()
	}
	return nil
}

// keep has p for further renders, unless it has done enough or has grown too large.
func (r *Renderer) keep(p *process) {
	p.renders++
	if p.renders >= cmp.Or(r.Renders, defaultRenders) || p.peak() > r.maxMemory()/2 {
		p.end()
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle = append(r.idle, p)
	p.expiry = time.AfterFunc(cmp.Or(r.Idle, defaultIdle), func() { r.expire(p) })
}

// expire ends p, unless it was taken in the meantime.
func (r *Renderer) expire(p *process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, idle := range r.idle {
		if idle == p {
			r.idle = append(r.idle[:i], r.idle[i+1:]...)
			p.end()
			return
		}
	}
}

// Close ends the children that are idle. They end with this process too.
func (r *Renderer) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.idle {
		p.expiry.Stop()
		p.end()
	}
	r.idle = nil
}

func (r *Renderer) maxMemory() int64 { return cmp.Or(r.MaxMemory, defaultMaxMemory) }
