package charts

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"example.com/fairlead/activities/fetch"
)

// maxCharts of an index bounds its contents, which are kept.
const maxCharts = 20_000

// errFlow says that an index has a form that cannot be cut line by line.
var errFlow = errors.New("the index is in flow style")

// section is a part of an index, from the beginning of a line to that of another.
type section struct {
	start, end int64
	line       int
}

// block is what an index says of one chart, with its name as the first key.
type block struct {
	section

	// whole is set when the versions begin on the line of the key: in flow style.
	whole bool
	// again is the line where the chart is there again, which makes both useless.
	again int
}

// errorAt names the line of an index.
func errorAt(line int, format string, args ...any) error {
	return fetch.Permanent("line %d: %w", line, fmt.Errorf(format, args...))
}

// contents says where the block of each chart is. It returns errFlow for an index in
// flow style, as JSON is.
func contents(index io.Reader) (map[string]*block, error) {
	s := newScanner(index)
	if s.has("\xff\xfe") || s.has("\xfe\xff") {
		return nil, errorAt(1, "the index is not in UTF-8")
	}
	c := cutter{top: -1, names: -1, blocks: map[string]*block{}}
	for {
		m, err := s.next()
		if err != nil {
			return nil, err
		}
		done, err := c.follow(m)
		if done || err != nil {
			return c.blocks, err
		}
	}
}

// cutter follows the marks of an index.
type cutter struct {
	// top is the column of the index's own keys, names that of the charts; -1 before
	// the first one.
	top, names int
	// entries is set below the key of that name.
	entries, hasEntries bool
	blocks              map[string]*block
	// open is the block that has not ended yet.
	open *block
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
	c.shut(m)
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
	c.shut(m)
	name := keyText(m.text)
	known := c.blocks[name]
	switch {
	case name == "<<":
		return errorAt(m.line, "entries merges others by an alias, which is not supported there")
	case known != nil:
		known.again = m.line
		return nil
	case len(c.blocks) == maxCharts:
		return errorAt(m.line, "the index has more than %d charts", maxCharts)
	}
	c.open = &block{section: section{start: m.start, line: m.line}, whole: m.value != 0}
	c.blocks[name] = c.open
	return nil
}

func (c *cutter) dash(m mark) error {
	switch {
	case c.top < 0 || m.column < c.top:
		return errorAt(m.line, "there is a list where an index has keys")
	case c.entries && (c.names < 0 || m.column < c.names):
		return errorAt(m.line, "there is a list where the index has names of charts")
	}
	return nil
}

func (c *cutter) shut(m mark) {
	if c.open != nil {
		c.open.end, c.open = m.start, nil
	}
}

func (c *cutter) end(m mark) error {
	c.shut(m)
	if !c.hasEntries {
		return fetch.Permanent("it is no index of a chart repository: it has no entries")
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

// versions returns one section for each version of a block, in the order of the index.
func (b *block) versions(index io.ReaderAt) ([]section, error) {
	s := newScanner(io.NewSectionReader(index, b.start, b.end-b.start))
	s.line = b.line
	var found []section
	for column := -1; ; {
		m, err := s.next()
		if err != nil {
			return nil, err
		}
		begins := m.kind == dash && (column < 0 || m.column <= column)
		if !begins && m.kind != endOfFile {
			continue
		}
		if n := len(found); n > 0 {
			found[n-1].end = b.start + m.start
		}
		if !begins {
			return found, nil
		}
		if column >= 0 && m.column < column {
			return nil, errorAt(m.line, "the version is further to the left than those before it")
		}
		column = m.column
		found = append(found, section{start: b.start + m.start, line: m.line})
	}
}
