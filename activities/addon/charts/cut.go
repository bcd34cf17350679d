package charts

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// errFlow says that an index has a form that cannot be cut line by line.
var errFlow = errors.New("the index is in flow style")

// section is a part of an index, from the beginning of a line to that of another.
type section struct {
	start, end int64
	line       int
}

// errorAt names the line of an index.
func errorAt(line int, format string, args ...any) error {
	return permanent("line %d: %w", line, fmt.Errorf(format, args...))
}

// cutter follows the marks of an index to the block of one chart.
type cutter struct {
	chart string
	// top is the column of the index's own keys, names that of the charts, items that
	// of the chart's versions; -1 before the first one.
	top, names, items int
	// entries is set below the key of that name.
	entries, hasEntries bool
	// inside is set below the key of the chart.
	inside, found bool
	// whole is set when the versions are in flow style: the block is one section.
	whole    bool
	sections []section
}

// cut finds the block of a chart: one section for each version, in the order of the
// index, or one with the key of the chart when whole is set. It returns errFlow for an
// index in flow style, as JSON is.
func cut(r io.Reader, chart string) (sections []section, whole bool, err error) {
	s := newScanner(r)
	if s.has("\xff\xfe") || s.has("\xfe\xff") {
		return nil, false, errorAt(1, "the index is not in UTF-8")
	}
	c := cutter{chart: chart, top: -1, names: -1, items: -1}
	for {
		m, err := s.next()
		if err != nil {
			return nil, false, err
		}
		done, err := c.follow(m)
		if done || err != nil {
			return c.sections, c.whole, err
		}
	}
}

// follow is told of each mark until it is done.
func (c *cutter) follow(m mark) (done bool, err error) {
	switch m.kind {
	case documentStart:
		if c.top < 0 {
			return false, nil
		}
		return true, c.end(m)
	case endOfFile, documentEnd:
		return true, c.end(m)
	case collection:
		return true, errFlow
	case dash:
		return false, c.dash(m)
	default:
		return false, c.key(m)
	}
}

func (c *cutter) key(m mark) error {
	if c.top < 0 {
		c.top = m.column
	}
	switch {
	case m.column < c.top:
		return errorAt(m.line, "the key is further to the left than those before it")
	case m.column == c.top:
		return c.topKey(m)
	case !c.entries:
		return nil
	case c.names < 0:
		c.names = m.column
	}
	switch {
	case m.column < c.names:
		return errorAt(m.line, "the key is further to the left than the names of the charts before it")
	case m.column == c.names:
		return c.chartKey(m)
	}
	return nil
}

func (c *cutter) topKey(m mark) error {
	c.close(m)
	c.entries = keyText(m.text) == "entries"
	if !c.entries {
		return nil
	}
	if c.hasEntries {
		return errorAt(m.line, "entries is there twice")
	}
	c.hasEntries = true
	switch m.value {
	case 0:
		return nil
	case '{':
		return errFlow
	case '&', '*', '!':
		return errorAt(m.line, "entries has an anchor, alias or tag, which are not supported there")
	}
	return errorAt(m.line, "entries is no list of charts")
}

func (c *cutter) chartKey(m mark) error {
	c.close(m)
	name := keyText(m.text)
	if name == "<<" {
		return errorAt(m.line, "entries merges others by an alias, which is not supported there")
	}
	if name != c.chart {
		return nil
	}
	if c.found {
		return errorAt(m.line, "chart %q is there twice", c.chart)
	}
	c.found, c.inside = true, true
	if c.whole = m.value != 0; c.whole {
		c.open(m)
	}
	return nil
}

func (c *cutter) dash(m mark) error {
	switch {
	case c.top < 0 || m.column < c.top:
		return errorAt(m.line, "there is a list where an index has keys")
	case !c.entries:
		return nil
	case c.names < 0 || m.column < c.names:
		return errorAt(m.line, "there is a list where the index has names of charts")
	case !c.inside || c.whole:
		return nil
	}
	if c.items < 0 {
		c.items = m.column
	}
	switch {
	case m.column < c.items:
		return errorAt(m.line, "the version is further to the left than those before it")
	case m.column == c.items:
		c.shut(m)
		c.open(m)
	}
	return nil
}

func (c *cutter) open(m mark) { c.sections = append(c.sections, section{start: m.start, line: m.line}) }

// shut ends the section that is open, if one is.
func (c *cutter) shut(m mark) {
	if n := len(c.sections); n > 0 && c.sections[n-1].end == 0 {
		c.sections[n-1].end = m.start
	}
}

// close ends the block of the chart.
func (c *cutter) close(m mark) {
	c.shut(m)
	c.inside = false
}

func (c *cutter) end(m mark) error {
	c.close(m)
	switch {
	case !c.hasEntries:
		return permanent("it is no index of a chart repository: it has no entries")
	case !c.found:
		return errNoChart
	}
	return nil
}

// keyText takes the quotes away. A key that cannot be read is the name of nothing.
func keyText(text []byte) string {
	if len(text) == 0 || text[0] != '"' && text[0] != '\'' {
		return string(text)
	}
	var name string
	if err := yaml.Unmarshal(bytes.TrimSpace(text), &name); err != nil {
		return ""
	}
	return name
}
