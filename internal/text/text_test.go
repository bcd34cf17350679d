package text_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/fairlead/internal/text"
)

func TestHead(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		most int
		want string
	}{
		"what fits":                 {"abc", 3, "abc"},
		"what is too long":          {"abcd", 3, "abc (cut)"},
		"a character at the border": {"aäb", 2, "a (cut)"},
		"nothing":                   {"", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := text.Head(c.in, c.most, " (cut)"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestMiddle(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		most int
		want string
	}{
		"what fits":                      {"abc", 3, "abc"},
		"what is too long":               {"abcdefghijkl", 9, "ab … kl"},
		"characters at both borders":     {"aäbbbbbbbbbäa", 9, "a … a"},
		"less than the mark of a middle": {"abcdef", 4, "abcd"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := text.Middle(c.in, c.most); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestMiddleIsBoundedInBytes(t *testing.T) {
	for most := range 64 {
		got := text.Middle(strings.Repeat("漢ü", 40), most)
		if len(got) > most || !utf8.ValidString(got) {
			t.Errorf("at most %d bytes: %d are %q", most, len(got), got)
		}
	}
}
