package charts

// quoted skips a scalar in quotes, which may have lines of any indentation.
func (s *scanner) quoted(quote byte) error {
	line := s.line
	s.take()
	for !s.ended() {
		switch c := s.peek(); {
		case c == '\\' && quote == '"':
			s.take()
			if !s.lineBreak() {
				s.take()
			}
		case c == quote && quote == '\'' && s.at(1) == '\'':
			s.take()
			s.take()
		case c == quote:
			s.take()
			return nil
		case !s.lineBreak():
			s.take()
		}
	}
	return errorAt(line, "a quote is never closed")
}

// take moves on by a byte that belongs to what may be a key.
func (s *scanner) take() {
	if len(s.text) < maxKey {
		s.text = append(s.text, s.peek())
	}
	s.skip(1)
}

// plainLine reads a scalar without quotes up to the end of its line, its colon or a
// comment.
func (s *scanner) plainLine() {
	for afterBlank := false; !s.ended() && !s.isBreak(); s.take() {
		c := s.peek()
		if c == ':' && s.blankAt(1) || c == '#' && afterBlank {
			return
		}
		afterBlank = isSpace(c)
	}
}

// plainRest skips the further lines of a scalar without quotes.
func (s *scanner) plainRest() error {
	for s.peek() != '#' {
		for isSpace(s.peek()) || s.isBreak() {
			if !s.lineBreak() {
				s.skip(1)
			}
		}
		if s.plainEnds() {
			return nil
		}
		s.plainLine()
		if s.isColon() {
			return errorAt(s.line, "a key is where the text before it goes on: look at its indentation")
		}
	}
	return nil
}

// plainEnds says whether the line that begins here is another matter.
func (s *scanner) plainEnds() bool {
	return s.ended() || s.column <= s.parent || s.peek() == '#' || s.column == 0 && s.isDocumentMarker()
}

// blockScalar skips text after | or >, which ends where the indentation does.
func (s *scanner) blockScalar() {
	s.restOfLine()
	for s.lineBreak() {
		for s.peek() == ' ' {
			s.skip(1)
		}
		if s.isBreak() {
			continue
		}
		if s.column <= max(s.parent, 0) {
			return
		}
		s.restOfLine()
	}
}

// flow skips a collection in flow style, which may have lines of any indentation.
func (s *scanner) flow() error {
	line, depth := s.line, 0
	// Quotes and comments mean something only where a token can start.
	start, afterBlank := true, true
	for !s.ended() {
		c := s.peek()
		switch {
		case s.lineBreak():
			afterBlank = true
		case c == '#' && (start || afterBlank):
			s.restOfLine()
			start = true
		case isAny(c, "\"'") && start:
			if err := s.quoted(c); err != nil {
				return err
			}
		case isAny(c, "&!*") && start:
			s.flowProperty()
		default:
			start, afterBlank = s.startsAfter(c, start), isSpace(c)
			s.skip(1)
			if depth += nesting(c); depth == 0 {
				return nil
			}
		}
	}
	return errorAt(line, "a bracket is never closed")
}

// startsAfter says whether a token can start after c, which comes next.
func (s *scanner) startsAfter(c byte, start bool) bool {
	switch {
	case isAny(c, "{}[],?"):
		return true
	case c == ':':
		return start || s.blankAt(1)
	}
	return start && isSpace(c)
}

func nesting(c byte) int {
	switch c {
	case '{', '[':
		return 1
	case '}', ']':
		return -1
	}
	return 0
}

func (s *scanner) flowProperty() {
	for s.skip(1); !s.blankAt(0) && s.peek() != ',' && nesting(s.peek()) == 0; {
		s.skip(1)
	}
}
