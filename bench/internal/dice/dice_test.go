package dice_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/bench/internal/dice"
)

// drawn is some of everything that can be drawn.
func drawn(d *dice.Dice) []any {
	var all []any
	for range 20 {
		all = append(all, d.Next(), d.Below(7), d.Chance(50), d.Between(time.Second, time.Minute))
	}
	return all
}

func TestASeedAndAPathDrawTheSameAgain(t *testing.T) {
	first := drawn(dice.New(7, "a", 1))
	if diff := cmp.Diff(first, drawn(dice.New(7, "a", 1))); diff != "" {
		t.Errorf("the same seed and path draw something else (-first +second):\n%s", diff)
	}
	for _, other := range []*dice.Dice{dice.New(8, "a", 1), dice.New(7, "b", 1), dice.New(7, "a", 2)} {
		if cmp.Equal(first, drawn(other)) {
			t.Error("another seed or path draws the same")
		}
	}
}

func TestWhatIsDrawnIsWithinItsBounds(t *testing.T) {
	d := dice.New(1)
	seen := map[time.Duration]bool{}
	for range 1000 {
		got := d.Between(2*time.Millisecond, 4*time.Millisecond)
		seen[got] = true
		if got < 2*time.Millisecond || got > 4*time.Millisecond {
			t.Fatalf("between 2 ms and 4 ms it drew %s", got)
		}
		if d.Chance(0) || !d.Chance(100) {
			t.Fatal("what never happens did, or what always happens did not")
		}
	}
	if len(seen) != 3 {
		t.Errorf("of 2, 3 and 4 ms it drew only %v", seen)
	}
}

func TestASideComesUpAsOftenAsItsWeightSays(t *testing.T) {
	d := dice.New(1)
	weights := []int{1, 0, 3}
	var counts [3]int
	for range 4000 {
		counts[d.Side(len(weights), func(i int) int { return weights[i] })]++
	}
	if counts[1] != 0 || counts[0] < 800 || counts[0] > 1200 {
		t.Errorf("of 4000 draws with weights %v the sides came up %v times", weights, counts)
	}
}
