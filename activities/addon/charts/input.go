package charts

import (
	"errors"
	"io"
	"strings"
)

// lookAhead is how much of a document is in memory.
const lookAhead = 64 << 10

// input reads a document byte by byte and knows where it is.
type input struct {
	r        io.Reader
	buf      []byte
	pos, end int
	eof      bool
	// err is why it could not be read to its end.
	err error

	// offset and lineStart are in bytes from the beginning; a column is one in bytes
	// too, which is the same where it matters: in an indentation.
	offset, lineStart int64
	line, column      int
}

func newInput(r io.Reader) input { return input{r: r, buf: make([]byte, lookAhead), line: 1} }

// fill makes n bytes visible, if there are so many.
func (in *input) fill(n int) bool {
	for in.end-in.pos < n && !in.eof {
		if in.pos > 0 {
			in.end = copy(in.buf, in.buf[in.pos:in.end])
			in.pos = 0
		}
		if in.end == len(in.buf) {
			return false
		}
		got, err := in.r.Read(in.buf[in.end:])
		in.end += got
		if err != nil {
			in.eof = true
			if !errors.Is(err, io.EOF) {
				in.err = err
			}
		}
	}
	return in.end-in.pos >= n
}

func (in *input) ended() bool { return in.pos >= in.end && !in.fill(1) }

// peek is the next byte, or 0 at the end.
func (in *input) peek() byte {
	if in.pos < in.end || in.fill(1) {
		return in.buf[in.pos]
	}
	return 0
}

// at is the byte that is n further.
func (in *input) at(n int) byte {
	if in.pos+n < in.end || in.fill(n+1) {
		return in.buf[in.pos+n]
	}
	return 0
}

func (in *input) has(text string) bool {
	return in.fill(len(text)) && string(in.buf[in.pos:in.pos+len(text)]) == text
}

// skip n bytes that are there and are no line break.
func (in *input) skip(n int) {
	in.pos += n
	in.offset += int64(n)
	in.column += n
}

// breakAt is the length of the line break that is n bytes further, or 0. YAML 1.1, and
// with it every parser of Go, has three that few people know.
func (in *input) breakAt(n int) int {
	c := in.at(n)
	if !mayBreak[c] {
		return 0
	}
	switch c {
	case '\n':
		return 1
	case '\r':
		if in.at(n+1) == '\n' {
			return 2
		}
		return 1
	case 0xc2: // U+0085
		if in.at(n+1) == 0x85 {
			return 2
		}
	case 0xe2: // U+2028, U+2029
		if in.at(n+1) == 0x80 && (in.at(n+2) == 0xa8 || in.at(n+2) == 0xa9) {
			return 3
		}
	}
	return 0
}

func (in *input) isBreak() bool { return in.breakAt(0) > 0 }

// lineBreak moves over a line break, if there is one.
func (in *input) lineBreak() bool {
	n := in.breakAt(0)
	if n == 0 {
		return false
	}
	in.skip(n)
	in.line++
	in.column, in.lineStart = 0, in.offset
	return true
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

func isAny(c byte, of string) bool { return strings.IndexByte(of, c) >= 0 }

// blankAt says whether n bytes further is white space or the end.
func (in *input) blankAt(n int) bool {
	c := in.at(n)
	return c == ' ' || c == '\t' || c == 0 || in.breakAt(n) > 0
}

// restOfLine moves to the line break.
func (in *input) restOfLine() {
	for !in.ended() && !in.isBreak() {
		n := 1
		for in.pos+n < in.end && !mayBreak[in.buf[in.pos+n]] {
			n++
		}
		in.skip(n)
	}
}

// mayBreak has the first bytes of line breaks.
var mayBreak = [256]bool{'\n': true, '\r': true, 0xc2: true, 0xe2: true}

// isDocumentMarker is for the beginning of a line.
func (in *input) isDocumentMarker() bool {
	return (in.has("---") || in.has("...")) && in.blankAt(3)
}
