package main

import "example.com/fairlead/bench/internal/dice"

// weighted is one side of a die, and how often it comes up.
type weighted[T any] struct {
	weight int
	value  T
}

func draw[T any](d *dice.Dice, sides []weighted[T]) T {
	return sides[d.Side(len(sides), func(i int) int { return sides[i].weight })].value
}
