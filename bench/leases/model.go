package main

import (
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"
)

// deed is what a recorded operation does.
type deed string

const (
	deedAcquire deed = "acquire"
	deedRelease deed = "release"
	deedRenew   deed = "renew"
	deedList    deed = "list"
)

// input of a recorded operation: id is of the lease that it is about.
type input struct {
	proxy string
	deed  deed
	id    string
}

// output of a recorded operation.
type output struct {
	// unknown: it may have been done or not.
	unknown bool
	// id that was granted, or listed; empty for none.
	id string
	// alive is what a renewal has found.
	alive bool
}

// holder is the state of one proxy that has room for one lease: the lease's id, empty for
// none.
type holder string

// somebody holds the proxy who was not told: the request that was granted was not answered.
const somebody holder = "?"

// fleetModel says how proxies with room for one lease behave, of which none runs out. Each is
// a partition of its own.
func fleetModel() porcupine.Model {
	return (&porcupine.NondeterministicModel{
		Partition: partition,
		Init:      func() []any { return []any{holder("")} },
		Step: func(state, in, out any) []any {
			held, _ := state.(holder)
			i, _ := in.(input)
			o, _ := out.(output)
			return step(held, i, o)
		},
		DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v -> %+v", in, out) },
	}).ToModel()
}

// step returns the states that may follow; none when the output is wrong.
func step(held holder, i input, o output) []any {
	switch i.deed {
	case deedAcquire:
		return stepAcquire(held, o)
	case deedRelease:
		return stepRelease(held, i, o)
	case deedRenew:
		return when(o.alive == (held == holder(i.id)), held)
	case deedList:
		if held == somebody && o.id != "" {
			return []any{holder(o.id)} // now it is known who
		}
		return when(held == holder(o.id), held)
	}
	return nil
}

func stepAcquire(held holder, o output) []any {
	switch {
	case o.unknown && held == "":
		return []any{held, somebody}
	case o.unknown:
		return []any{held}
	case o.id == "":
		return when(held != "", held)
	}
	return when(held == "", holder(o.id))
}

func stepRelease(held holder, i input, o output) []any {
	switch {
	case held != holder(i.id):
		return []any{held}
	case o.unknown:
		return []any{held, holder("")}
	}
	return []any{holder("")}
}

func when(ok bool, next holder) []any {
	if !ok {
		return nil
	}
	return []any{next}
}

func partition(history []porcupine.Operation) [][]porcupine.Operation {
	byProxy := map[string][]porcupine.Operation{}
	var proxies []string
	for _, op := range history {
		i, _ := op.Input.(input)
		if byProxy[i.proxy] == nil {
			proxies = append(proxies, i.proxy)
		}
		byProxy[i.proxy] = append(byProxy[i.proxy], op)
	}
	slices.Sort(proxies)
	parts := make([][]porcupine.Operation, len(proxies))
	for i, p := range proxies {
		parts[i] = byProxy[p]
	}
	return parts
}
