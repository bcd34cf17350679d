package bench

import (
	"testing"
	"time"
)

// percentile of sorted values: the smallest that at least pct percent do not exceed.
func percentile(sorted []time.Duration, pct int) time.Duration {
	return sorted[(len(sorted)*pct+99)/100-1]
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func TestPercentile(t *testing.T) {
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(i+1))
	}
	for _, tt := range []struct {
		name   string
		sorted []time.Duration
		pct    int
		want   time.Duration
	}{
		{"the median of one value", hundred[:1], 50, 1},
		{"the median of two is the lower", hundred[:2], 50, 1},
		{"half of a hundred", hundred, 50, 50},
		{"ninety-nine of a hundred", hundred, 99, 99},
		{"ninety-nine of ten is the largest", hundred[:10], 99, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := percentile(tt.sorted, tt.pct); got != tt.want {
				t.Errorf("percentile %d of %v = %d, want %d", tt.pct, tt.sorted, got, tt.want)
			}
		})
	}
}
