package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"sigs.k8s.io/yaml"

	"example.com/fairlead/temporal/wire"
)

// lastEvents is how many events of a history a report has.
const lastEvents = 40

// report prints what is known about each broken promise.
func (r *run) report(ctx context.Context, scripts []script) {
	r.progress.printf("%s", r.progress.line(r))
	_, _ = fmt.Fprintln(r.out, r.progress.summary(r.observer))
	r.mu.Lock()
	violations := r.violations
	r.mu.Unlock()
	const most = 3 // one broken promise often breaks others
	for _, v := range violations[:min(len(violations), most)] {
		_, _ = fmt.Fprintf(r.out, "\nBROKEN PROMISE, seed %d: %s\n", r.seed, v)
		if s, ok := r.observer.find(v.uid); ok {
			r.reportSubject(ctx, s, scripts)
		}
	}
}

func (r *run) reportSubject(ctx context.Context, s subject, scripts []script) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	_, _ = fmt.Fprintf(r.out, "Proxy %s, UID %s, life %s\n", s.ref, s.ref.UID, s.who)
	lifecycle, _, _ := strings.Cut(s.who, ".")
	if n, err := strconv.Atoi(lifecycle); err == nil && n > 0 && n <= len(scripts) {
		_, _ = fmt.Fprintf(r.out, "--- script\n%s", scripts[n-1])
	}
	if status, err := yaml.Marshal(s.now.Status); err == nil {
		_, _ = fmt.Fprintf(r.out, "--- status, as last seen\n%s", status)
	}
	_, _ = fmt.Fprintf(r.out, "--- what was seen, in seconds of the run\n%s\n--- last events of its workflow\n", strings.Join(s.log, "\n"))
	for _, line := range r.lastEvents(ctx, s.ref) {
		_, _ = fmt.Fprintln(r.out, line)
	}
}

// lastEvents are those of the newest run.
func (r *run) lastEvents(ctx context.Context, ref wire.ProxyRef) (lines []string) {
	events := r.temporal.GetWorkflowHistory(ctx, wire.ProxyID(ref), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return append(lines, err.Error())
		}
		if !strings.HasPrefix(e.GetEventType().String(), "WorkflowTask") { // which say nothing
			lines = append(lines, eventLine(e))
		}
	}
	return lines[max(0, len(lines)-lastEvents):]
}

// eventLine is an event in a line, with its payloads as they are.
func eventLine(e *historypb.HistoryEvent) string {
	const most = 800
	line := e.String()
	return line[:min(len(line), most)]
}

// endProxies kills what the run leaves: abandoned instances, and all of them after
// a broken promise.
func (r *run) endProxies() {
	all, err := readProcesses(r.role.Owner)
	if err != nil {
		r.progress.printf("the proxies are not ended: %v", err)
	}
	for _, p := range all {
		_ = syscall.Kill(p.pid, syscall.SIGKILL) // it may have ended by itself
	}
}

// searchLogs looks for secrets in what the programs wrote.
func (r *run) searchLogs() error {
	logs, err := filepath.Glob(filepath.Join(r.dir, "*.log"))
	if err != nil {
		return fmt.Errorf("list the logs: %w", err)
	}
	for _, path := range logs {
		data, err := os.ReadFile(path) // #nosec G304 -- a file of this run
		if err != nil {
			return fmt.Errorf("search the logs: %w", err)
		}
		for _, s := range r.secrets {
			if bytes.Contains(data, s) {
				v := &violation{broken, "", "a secret stands in " + filepath.Base(path)}
				r.fail(v)
				return v
			}
		}
	}
	return nil
}
