package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"
)

// dice draw from a seed and a path of words: the same numbers each time, whatever
// else is drawn meanwhile.
type dice struct {
	key string
	n   int
}

func newDice(seed uint64, path ...any) *dice {
	return &dice{key: fmt.Sprint(append([]any{seed}, path...)...)}
}

func (d *dice) next() uint64 {
	d.n++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", d.key, d.n))
	return binary.BigEndian.Uint64(sum[:8])
}

// below is from 0 to n-1.
func (d *dice) below(n int) int {
	return int(d.next() % uint64(n)) // #nosec G115 -- less than n
}

func (d *dice) chance(percent int) bool { return d.below(100) < percent }

func (d *dice) between(least, most time.Duration) time.Duration {
	const step = time.Millisecond
	return least + time.Duration(d.below(int((most-least)/step)+1))*step
}

// weighted is one side of a die, and how often it comes up.
type weighted[T any] struct {
	weight int
	value  T
}

func draw[T any](d *dice, sides []weighted[T]) T {
	sum := 0
	for _, s := range sides {
		sum += s.weight
	}
	n := d.below(sum)
	for _, s := range sides {
		if n -= s.weight; n < 0 {
			return s.value
		}
	}
	panic("a die without sides")
}
