package charts

import (
	"bytes"
	"io"
)

// kind of a mark.
type kind int

const (
	// endOfFile comes again when asked again.
	endOfFile kind = iota
	// key of a block mapping, and its colon.
	key
	// dash of an item of a block sequence.
	dash
	// collection in flow style, which was skipped, as content of the document itself.
	collection
	// documentStart is ---, documentEnd is ...
	documentStart
	documentEnd
)

// maxKey bounds what is kept of a key; longer ones are cut.
const maxKey = 512

// mark is a place in block style where the structure of the document shows.
type mark struct {
	kind kind
	// line counts from 1, column from 0; start is the offset of the line in bytes.
	line, column int
	start        int64
	// text of a key as it is written, with quotes. It is valid until the next mark.
	text []byte
	// value is the first byte after the colon of a key on its line, or 0.
	value byte
}

// scanner finds the marks of a YAML document in one pass with one small buffer. It
// understands as much of YAML as is needed to know what is a mark and what is inside
// a scalar or a collection in flow style, and trusts that the document is well-formed
// otherwise: what is taken from it is parsed by a real parser afterwards.
type scanner struct {
	input

	// parent is the column of the innermost key or dash: what continues a scalar is
	// further to the right.
	parent int
	// opened is the line of the key whose value is still to come, or 0.
	opened int
	text   []byte
}

func newScanner(r io.Reader) *scanner {
	s := &scanner{input: newInput(r), parent: -1}
	if s.has("\xef\xbb\xbf") {
		s.skip(3)
		s.column = 0
	}
	return s
}

// next mark, or an error that names the line.
func (s *scanner) next() (mark, error) {
	for {
		s.blank()
		if s.ended() {
			return mark{kind: endOfFile, line: s.line, start: s.offset}, s.err
		}
		if s.peek() == 0 {
			return mark{}, errorAt(s.line, "there is a zero byte")
		}
		m := mark{line: s.line, column: s.column, start: s.lineStart}
		if found, err := s.token(&m); found || err != nil {
			return m, err
		}
	}
}

// blank moves to the next token, over spaces, line breaks and comments.
func (s *scanner) blank() {
	for !s.ended() {
		switch c := s.peek(); {
		case isSpace(c):
			s.skip(1)
		case c == '#':
			s.restOfLine()
		case !s.lineBreak():
			return
		}
	}
}

// token reads what begins here. It says whether m is a mark.
func (s *scanner) token(m *mark) (bool, error) {
	if m.column == 0 && s.isDocumentMarker() {
		m.kind = documentStart
		if s.peek() == '.' {
			m.kind = documentEnd
		}
		s.skip(3)
		s.parent = -1
		return true, nil
	}
	switch c := s.peek(); {
	case c == '%' && m.column == 0:
		s.restOfLine() // a directive
		return false, nil
	case c == '-' && s.blankAt(1):
		return true, s.item(m)
	case isAny(c, "?:") && s.blankAt(1):
		return false, errorAt(m.line, "keys that begin with %q are not supported", c)
	}
	return s.node(m)
}

func (s *scanner) item(m *mark) error {
	if s.opened == m.line {
		return errorAt(m.line, "a list begins on the line of its key")
	}
	m.kind = dash
	s.parent = m.column
	s.skip(1)
	return nil
}

// node reads a scalar or a collection, which may turn out to be a key.
func (s *scanner) node(m *mark) (bool, error) {
	s.properties()
	c := s.peek()
	switch {
	case s.blankAt(0) || c == '#':
		return false, nil // an anchor or tag of what begins on another line
	case isAny(c, "|>"):
		s.blockScalar()
		return false, nil
	}
	if err := s.oneLine(c); err != nil {
		return false, err
	}
	switch {
	case isAny(c, "{[") && s.parent < 0:
		m.kind = collection
		return true, nil
	case s.isColon():
		return true, s.keyMark(m)
	case s.parent < 0:
		return false, errorAt(m.line, "there is text where an index has keys")
	case !isAny(c, "\"'{["):
		return false, s.plainRest()
	}
	return false, nil
}

// oneLine reads as much as can be a key; what has quotes or brackets it reads wholly.
func (s *scanner) oneLine(c byte) error {
	s.text = s.text[:0]
	switch {
	case isAny(c, "\"'"):
		return s.quoted(c)
	case isAny(c, "{["):
		return s.flow()
	}
	s.plainLine()
	return nil
}

// isColon says whether what was just read is a key.
func (s *scanner) isColon() bool {
	n := 0
	for isSpace(s.at(n)) {
		n++
	}
	return s.at(n) == ':' && s.blankAt(n+1)
}

func (s *scanner) keyMark(m *mark) error {
	if s.line != m.line {
		return errorAt(m.line, "a key has more than one line")
	}
	if s.opened == m.line {
		return errorAt(m.line, "a key follows another key on its line")
	}
	m.kind, m.text = key, bytes.TrimRight(s.text, " \t")
	s.parent, s.opened = m.column, m.line
	for s.peek() != ':' {
		s.skip(1)
	}
	s.skip(1)
	for isSpace(s.peek()) {
		s.skip(1)
	}
	if !s.blankAt(0) && s.peek() != '#' {
		m.value = s.peek()
	}
	return nil
}

// properties skips anchors and tags before a node.
func (s *scanner) properties() {
	for isAny(s.peek(), "&!") {
		for !s.blankAt(0) {
			s.skip(1)
		}
		for isSpace(s.peek()) {
			s.skip(1)
		}
	}
}
