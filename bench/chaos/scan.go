package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"example.com/fairlead/temporal/wire"
)

const (
	scanEvery = 200 * time.Millisecond
	// homelessFor is how long a process may live without its directory: one that was
	// started for an instance that went meanwhile locks its file, looks, and ends.
	homelessFor = 3 * time.Second
)

// scan looks at the directories and processes until ctx ends.
func (o *observer) scan(ctx context.Context) error {
	for {
		if err := errors.Join(o.scanInstances(ctx), o.scanProcesses()); err != nil {
			return err
		}
		o.catchUp(ctx)
		if linger(ctx, scanEvery) != nil {
			return nil
		}
	}
}

func (o *observer) scanInstances(ctx context.Context) error {
	now := map[string]instance{}
	for prov, dir := range o.stateDirs {
		all, err := readInstances(prov, dir)
		if err != nil {
			return err
		}
		for _, i := range all {
			now[i.lifeFile] = i
		}
	}
	for _, i := range o.compare(now) {
		o.verify(ctx, i)
	}
	return nil
}

// compare tells what came and went since the last look, and returns the instances
// that nobody has seen in the ledger yet.
func (o *observer) compare(now map[string]instance) (unverified []instance) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for f, i := range now {
		s := o.subjects[i.uid]
		if s == nil {
			unverified = append(unverified, i)
			continue
		}
		if _, was := o.instances[f]; !was {
			o.tell(s, "disk    there is %s", i)
		}
		if !s.seen[f] && !s.abandoned {
			unverified = append(unverified, i)
		}
	}
	for f, i := range o.instances {
		if s := o.subjects[i.uid]; s != nil && now[f].lifeFile == "" {
			o.tell(s, "disk    no more %s", i)
		}
	}
	o.instances = now
	return unverified
}

// verify holds an instance that was seen for the first time to the ledger. The
// object is read after the directory was seen and before it is looked at again: an
// instance that was there both times was there at the time of the read.
func (o *observer) verify(ctx context.Context, i instance) {
	_, problem, err := inLedger(ctx, o.live, wire.ProxyRef{Namespace: i.namespace, Name: i.object, UID: i.uid}, i.entry())
	if err != nil {
		return // the API server does not answer; the next scan tries again
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.subjects[i.uid]
	switch {
	case s != nil && s.abandoned:
	case problem != "" && i.still():
		o.fail(&violation{leaked, i.uid, "there is " + i.String() + ", and " + problem})
	case problem == "" && s != nil:
		s.seen[i.lifeFile] = true
	}
}

// catchUp holds Creates to the ledger that were made while the API server did not
// answer, and nothing could get into a ledger: what was not seen in it before has to
// be there when the server is back.
func (o *observer) catchUp(ctx context.Context) {
	o.mu.Lock()
	todo := o.unchecked
	o.unchecked = nil
	o.mu.Unlock()
	for _, c := range todo {
		if !o.checked(ctx, c) {
			o.mu.Lock()
			o.unchecked = append(o.unchecked, c)
			o.mu.Unlock()
		}
	}
}

func (o *observer) checked(ctx context.Context, c call) bool {
	o.mu.Lock()
	s := o.byInstance[c.Instance]
	known := s != nil && (s.abandoned || s.entries[*c.Unchecked])
	o.mu.Unlock()
	if s == nil || known {
		return known
	}
	_, problem, err := inLedger(ctx, o.live, s.ref, *c.Unchecked)
	if err == nil && problem != "" {
		o.fail(&violation{leaked, s.ref.UID, fmt.Sprintf("incarnation %d was created at %s, but %s", c.Unchecked.Incarnation, c.At.UTC().Format(time.TimeOnly), problem)})
	}
	return err == nil
}

// scanProcesses fails when two processes of one object live or serve, or one lives
// that nobody could find any more.
func (o *observer) scanProcesses() error {
	all, err := readProcesses(o.owner)
	if err != nil {
		return err
	}
	byName := map[string][]proxyProcess{}
	for _, p := range all {
		byName[p.name()] = append(byName[p.name()], p)
	}
	for name, group := range byName {
		if len(group) > 1 {
			if err := o.confirm(name, group); err != nil {
				return err
			}
		}
	}
	o.findHomeless(all)
	return nil
}

// confirm looks again: /proc/locks is not read at one moment, but what is there in
// both reads was there between them.
func (o *observer) confirm(name string, before []proxyProcess) error {
	again, err := readProcesses(o.owner)
	if err != nil {
		return err
	}
	var both []proxyProcess
	for _, p := range again {
		for _, b := range before {
			if p.pid == b.pid && p.lifeFile == b.lifeFile {
				both = append(both, p)
			}
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if s := o.byInstance[name]; len(both) > 1 && (s == nil || !s.abandoned) {
		uid := ""
		if s != nil {
			uid = s.ref.UID
		}
		o.fail(&violation{duplicate, uid, fmt.Sprintf("%d processes live of %s: %+v", len(both), name, both)})
	}
	return nil
}

func (o *observer) findHomeless(all []proxyProcess) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := map[int]time.Time{}
	for _, p := range all {
		s := o.byInstance[p.name()]
		if _, err := os.Stat(p.lifeFile); err == nil || s != nil && s.abandoned {
			continue
		}
		since, known := o.homeless[p.pid]
		if !known {
			since = time.Now()
		}
		now[p.pid] = since
		if time.Since(since) > homelessFor && s != nil {
			o.fail(&violation{leaked, s.ref.UID, fmt.Sprintf("process %d lives without a directory (%s)", p.pid, filepath.Base(p.lifeFile))})
		}
	}
	o.homeless = now
}
