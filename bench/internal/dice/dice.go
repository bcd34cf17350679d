// Package dice draws what the programs that do harm on purpose do next, so that a seed
// does the same again.
package dice

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"
)

// Dice draw from a seed and a path of words: the same numbers each time, whatever
// else is drawn meanwhile.
type Dice struct {
	key string
	n   int
}

// New returns the Dice of a seed and a path.
func New(seed uint64, path ...any) *Dice {
	return &Dice{key: fmt.Sprint(append([]any{seed}, path...)...)}
}

// Next is any number.
func (d *Dice) Next() uint64 {
	d.n++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", d.key, d.n))
	return binary.BigEndian.Uint64(sum[:8])
}

// Below is from 0 to n-1.
func (d *Dice) Below(n int) int {
	return int(d.Next() % uint64(n)) // #nosec G115 -- less than n
}

// Chance is true in so many of a hundred cases.
func (d *Dice) Chance(percent int) bool { return d.Below(100) < percent }

// Between is a time in whole milliseconds; most is drawn too.
func (d *Dice) Between(least, most time.Duration) time.Duration {
	const step = time.Millisecond
	return least + time.Duration(d.Below(int((most-least)/step)+1))*step
}

// Side is the index of one of n sides, each as often as its weight says.
func (d *Dice) Side(n int, weight func(i int) int) int {
	sum := 0
	for i := range n {
		sum += weight(i)
	}
	drawn := d.Below(sum)
	for i := range n {
		if drawn -= weight(i); drawn < 0 {
			return i
		}
	}
	panic("dice without sides")
}
