package plan

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

// Mask hides secrets in text: long ones wherever they stand, quoted and encoded too,
// short ones where they are a word of their own.
func Mask(text string, secrets [][]byte) string {
	return newMask(secrets).strict(text)
}

// mask knows the secrets of an add-on.
type mask struct {
	long  *strings.Replacer
	short []string // words, the longest first
}

func newMask(secrets [][]byte) mask {
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
	return mask{long: strings.NewReplacer(pairs...), short: slices.Compact(short)}
}

func longestFirst(a, b string) int {
	return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
}

// strict hides all secrets in text.
func (m mask) strict(text string) string {
	text = m.long.Replace(text)
	for _, word := range m.short {
		text = replaceWord(text, word)
	}
	return text
}

// errorText hides all secrets in the text of an error, and bounds it.
func (m mask) errorText(text string) string {
	return cut(m.strict(text), maxErrorText, "… (cut)")
}

// leaf hides the secrets in a text of an object that is no Secret. Words that are in
// every object are not hidden: a plan without ports could not be reviewed.
func (m mask) leaf(text string) string {
	text = m.long.Replace(text)
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

// secretsOf are the values that a Secret holds, as they are written and decoded.
func secretsOf(object *unstructured.Unstructured) [][]byte {
	if object == nil || object.GroupVersionKind().GroupKind() != secretKind {
		return nil
	}
	var out [][]byte
	for _, field := range []string{"data", "stringData"} {
		values, _ := object.Object[field].(map[string]any)
		for _, value := range values {
			text := fmt.Sprint(value)
			decoded, err := base64.StdEncoding.DecodeString(text)
			if field == "data" && err == nil {
				out = append(out, decoded)
			}
			if field != "data" || base64.StdEncoding.EncodeToString(decoded) != text {
				out = append(out, []byte(text)) // as it is: its base64 is a form of decoded
			}
		}
	}
	return out
}
