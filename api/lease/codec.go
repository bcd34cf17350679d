package lease

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Kinds of changes. A value begins with the version of its form, so that a later form can
// tell.
const (
	kindTime     Kind = 't'
	kindLease    Kind = 'l'
	kindSession  Kind = 's'
	kindCooldown Kind = 'c'
	kindBans     Kind = 'b'
	kindKey      Kind = 'k'
	kindBudget   Kind = 'g'
)

const formVersion = 1

// keyOf is the Key of what is a client's own. No two are the same, whatever they contain.
func keyOf(client, name string) string { return strconv.Itoa(len(client)) + " " + client + " " + name }

var errShort = errors.New("it breaks off")

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendNumber(b []byte, n int64) []byte { return binary.AppendVarint(b, n) }

func appendFlag(b []byte, f bool) []byte {
	if f {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendTexts(b []byte, texts []string) []byte {
	b = appendNumber(b, int64(len(texts)))
	for _, t := range texts {
		b = appendText(b, t)
	}
	return b
}

// form reads what the functions above have written. The first error stays.
type form struct {
	left []byte
	err  error
	// lent are the proxies that were read already.
	lent map[string]*lent
}

func readForm(value []byte, known map[string]*lent) *form {
	f := &form{left: value, lent: known}
	if v := f.number(); f.err == nil && v != formVersion {
		f.err = fmt.Errorf("it has form %d, this program knows %d: was it written by a newer one?", v, formVersion)
	}
	return f
}

func newForm() []byte { return appendNumber(make([]byte, 0, 192), formVersion) }

func (f *form) text() string { return string(f.bytes()) }

func (f *form) bytes() []byte {
	n, size := binary.Uvarint(f.left)
	if f.err != nil || size <= 0 || n > uint64(len(f.left)) || size+int(n) > len(f.left) { // #nosec G115 -- lengths
		f.fail()
		return nil
	}
	end := size + int(n) // #nosec G115 -- it is within the length
	b := f.left[size:end]
	f.left = f.left[end:]
	return b
}

func (f *form) number() int64 {
	n, size := binary.Varint(f.left)
	if f.err != nil || size <= 0 {
		f.fail()
		return 0
	}
	f.left = f.left[size:]
	return n
}

// moment reads a time that can be reckoned with.
func (f *form) moment() moment {
	m := moment(f.number())
	if m < never || m > -never {
		f.fail()
		return 0
	}
	return m
}

// tally reads a number of things that were counted.
func (f *form) tally() int {
	n := f.number()
	if n < 0 || n > math.MaxInt32 {
		f.fail()
		return 0
	}
	return int(n)
}

func (f *form) flag() bool {
	if f.err != nil || len(f.left) == 0 {
		f.fail()
		return false
	}
	set := f.left[0] == 1
	f.left = f.left[1:]
	return set
}

// count reads how many things follow, each of one byte at least.
func (f *form) count() int {
	n := f.number()
	if n < 0 || n > int64(len(f.left)) {
		f.fail()
		return 0
	}
	return int(n)
}

func (f *form) texts() []string {
	var texts []string
	for range f.count() {
		texts = append(texts, f.text())
	}
	return texts
}

func (f *form) fail() {
	if f.err == nil {
		f.err = errShort
	}
	f.left = nil
}

// end returns the first error, or one for what nobody has read.
func (f *form) end() error {
	if f.err == nil && len(f.left) > 0 {
		return fmt.Errorf("it has %d bytes too many", len(f.left))
	}
	return f.err
}
