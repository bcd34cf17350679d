package probe

import (
	"testing"
	"time"
)

func TestDetailsWorthTelling(t *testing.T) {
	const ms = time.Millisecond
	told := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	healthy := func(latency time.Duration) Result {
		return Result{Verdict: Healthy, Latency: latency, ExitIP: "192.0.2.1"}
	}
	tests := []struct {
		name   string
		before Result
		now    Result
		after  time.Duration
		want   news
	}{
		{"jitter between 40 and 60 ms is not", healthy(40 * ms), healthy(60 * ms), time.Hour, nothing},
		{"more than 20 ms and more than half is", healthy(40 * ms), healthy(61 * ms), time.Hour, detail},
		{"more than 20 ms, less than half is not", healthy(100 * ms), healthy(149 * ms), time.Hour, nothing},
		{"half of next to nothing is not", healthy(1 * ms), healthy(20 * ms), time.Hour, nothing},
		{"an improvement is", healthy(100 * ms), healthy(40 * ms), time.Hour, detail},
		{"not within a minute", healthy(40 * ms), healthy(400 * ms), time.Minute - 1, nothing},
		{"a minute later", healthy(40 * ms), healthy(400 * ms), time.Minute, detail},
		{"slow is a reason", healthy(40 * ms), Result{Verdict: Slow, Latency: 50 * ms, ExitIP: "192.0.2.1"}, time.Hour, detail},
		{"another exit is", healthy(40 * ms), Result{Verdict: Healthy, Latency: 40 * ms, ExitIP: "192.0.2.2"}, time.Hour, detail},
		{"another reason to be unhealthy is", Result{Verdict: Dead}, Result{Verdict: Auth}, time.Hour, detail},
		{"the same reason is not", Result{Verdict: Dead, Message: "a"}, Result{Verdict: Dead, Message: "b"}, time.Hour, nothing},
		{"latency of an unhealthy proxy is not", Result{Verdict: WrongExit, Latency: 40 * ms}, Result{Verdict: WrongExit, Latency: 400 * ms}, time.Hour, nothing},
		{"a single failure is not", healthy(40 * ms), Result{Verdict: Dead}, time.Hour, nothing},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			target := Target{Check: Check{Interval: time.Second, SuccessThreshold: 1, FailureThreshold: 1}}
			if tt.before.Verdict.OK() && !tt.now.Verdict.OK() {
				target.Check.FailureThreshold = 2
			}
			s := newState(target, told, 0)
			s.record(tt.before, told)
			s.reported(s.transition(), told)
			now := told.Add(tt.after)
			s.record(tt.now, now)
			if got := s.news(now); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
