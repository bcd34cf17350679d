package child

import (
	"errors"

	"example.com/fairlead/activities/addon/render"
)

// Why a renderer ended before it had rendered.
var (
	// ErrRecursion is of a chart that overflows the stack.
	ErrRecursion = errors.New("the chart ends its renderer: a template includes or calls itself without end")
	// ErrMemory is of a chart that takes more than it may.
	ErrMemory = errors.New("the chart ends its renderer: it takes too much memory: does a template call itself, or make something without end?")
	// ErrTime is of a chart that loops, or does more than can be done in the time it has.
	ErrTime = errors.New("the chart takes too long, and its renderer was ended: does a template loop?")
	// ErrEnded is of a renderer that ended for a reason that the chart need not have given.
	ErrEnded = errors.New("the renderer ended while it rendered the chart")
)

// classes are those of errors that outlive the way from the child. The place of a class is
// its name on the way.
var classes = []error{nil, render.ErrPanic, render.ErrMissing, render.ErrTooLarge}

func classOf(err error) int {
	for i, class := range classes {
		if i > 0 && errors.Is(err, class) {
			return i
		}
	}
	return 0
}

// told is an error as the child told it.
type told struct {
	text  string
	class error
}

func (e told) Error() string { return e.text }
func (e told) Unwrap() error { return e.class }

// toldBy is the error of a reply.
func toldBy(r *reply) error {
	if r.Class < 0 || r.Class >= len(classes) {
		return told{text: r.Error}
	}
	return told{text: r.Error, class: classes[r.Class]}
}
