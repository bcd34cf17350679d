// Package mask hides the secrets of an add-on in texts that people see or that are stored.
package mask

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// Masked stands where a secret stood.
	Masked = "<secret>"

	// longSecret is how long a secret is, at least, that is masked also within a word.
	longSecret = 8
	// shortSecret is how long one is, at least, that is masked in objects other than
	// Secrets. Shorter ones are half of all words there.
	shortSecret = 4
	// fileSecret is how long a secret is that is rather a file with secrets in it.
	fileSecret = 8 << 10
)

// Mask knows the secrets of an add-on. The zero value knows none.
type Mask struct {
	long  *strings.Replacer
	short []string // words, the longest first
}

// New makes a mask of secrets.
func New(secrets [][]byte) Mask {
	var pairs, short, long []string
	for _, secret := range secrets {
		if len(bytes.TrimSpace(secret)) >= longSecret {
			long = append(long, forms(secret)...)
		} else {
			short = append(short, shortForms(secret)...)
		}
	}
	slices.SortFunc(long, longestFirst)
	for _, form := range slices.Compact(long) {
		pairs = append(pairs, form, Masked)
	}
	slices.SortFunc(short, longestFirst)
	return Mask{long: strings.NewReplacer(pairs...), short: slices.Compact(short)}
}

func longestFirst(a, b string) int {
	return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
}

// Text hides all secrets in text: long ones wherever they stand, quoted and encoded too,
// short ones where they are a word of their own.
func (m Mask) Text(text string) string {
	text = m.replaceLong(text)
	for _, word := range m.short {
		text = replaceWord(text, word)
	}
	return text
}

func (m Mask) replaceLong(text string) string {
	if m.long == nil {
		return text
	}
	return m.long.Replace(text)
}

// Leaf hides the secrets in a text of an object that is no Secret. Words that are in
// every object are not hidden: a plan without ports could not be reviewed.
func (m Mask) Leaf(text string) string {
	text = m.replaceLong(text)
	for _, word := range m.short {
		if len(word) >= shortSecret && !everyday(word) {
			text = replaceWord(text, word)
		}
	}
	return text
}

func everyday(word string) bool {
	_, err := strconv.Atoi(word)
	return err == nil || slices.Contains([]string{"true", "false", "null", "none"}, strings.ToLower(word))
}

// forms are the ways to write a secret: as it is, as JSON and Go quote it, in URLs, and
// in base64, also inside of a longer encoded text. Of whole files it is the lines only.
func forms(secret []byte) []string {
	if len(secret) > fileSecret {
		return append(lines(secret), string(secret))
	}
	out := lines(secret)
	for _, text := range []string{string(secret), strings.TrimSpace(string(secret))} {
		quoted := strconv.Quote(text)
		out = append(out, text, quoted[1:len(quoted)-1], url.QueryEscape(text), url.PathEscape(text))
		out = append(out, base64Forms([]byte(text))...)
	}
	return out
}

// lines are those of secret that look like keys: PEM is shown line by line.
func lines(secret []byte) []string {
	var out []string
	for line := range strings.Lines(string(secret)) {
		if line = strings.TrimSpace(line); len(line) > 2*longSecret && !strings.ContainsRune(line, ' ') {
			out = append(out, line)
		}
	}
	return out
}

// base64Forms are what secret looks like in base64 at each of the three places that
// it can begin at in a group of three bytes, less what its neighbours decide.
func base64Forms(secret []byte) []string {
	var out []string
	for before := range 3 {
		padded := append(make([]byte, before), secret...)
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := encoding.EncodeToString(padded)
			if len(padded)%3 != 0 {
				text = text[:len(text)-1]
			}
			if before > 0 {
				text = text[before+1:]
			}
			out = append(out, text)
		}
	}
	return append(out, base64.StdEncoding.EncodeToString(secret), base64.URLEncoding.EncodeToString(secret))
}

func shortForms(secret []byte) []string {
	text := strings.TrimSpace(string(secret))
	if text == "" {
		return nil
	}
	return []string{text, base64.StdEncoding.EncodeToString(secret)}
}

// replaceWord masks word in text where no letter or digit is beside it.
func replaceWord(text, word string) string {
	var out strings.Builder
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			out.WriteString(text[from:])
			return out.String()
		}
		at += from
		end := at + len(word)
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if partOfWord(before) || partOfWord(after) {
			_, size := utf8.DecodeRuneInString(text[at:])
			out.WriteString(text[from : at+size])
			from = at + size
			continue
		}
		out.WriteString(text[from:at])
		out.WriteString(Masked)
		from = end
	}
}

func partOfWord(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
