package lease

import (
	"maps"
	"slices"
)

// lent is a proxy as it was lent, which all its leases from then share.
type lent struct {
	Candidate

	// form is what is kept of it.
	form []byte
}

// asLent is p as it is now.
func (p *proxy) asLent() *lent {
	if p.lent == nil {
		p.lent = &lent{p.Candidate, appendText(nil, string(appendCandidate(nil, &p.Candidate)))}
	}
	return p.lent
}

// readLent returns the same one for all that were lent alike.
func readLent(f *form) *lent {
	all := f.left
	c := form{left: f.bytes()}
	if l := f.lent[string(c.left)]; l != nil {
		return l
	}
	name := string(c.left)
	l := &lent{Candidate: readCandidate(&c)}
	if c.end() != nil {
		f.fail()
		return l
	}
	l.form = all[:len(all)-len(f.left)]
	if f.lent != nil {
		f.lent[name] = l
	}
	return l
}

// appendCandidate has what a client was told of a proxy, and how new that was.
func appendCandidate(b []byte, c *Candidate) []byte {
	b = appendText(appendText(b, c.Key), c.UID)
	b = appendText(appendText(appendNumber(b, c.Version), c.Scheme), c.Host)
	b = appendNumber(appendNumber(b, int64(c.Port)), int64(len(c.Attributes)))
	for _, k := range slices.Sorted(maps.Keys(c.Attributes)) {
		b = appendText(appendText(b, k), c.Attributes[k])
	}
	return b
}

func readCandidate(f *form) Candidate {
	c := Candidate{Key: f.text(), UID: f.text(), Version: f.number(), Scheme: f.text(), Host: f.text()}
	c.Port = int32(f.number()) // #nosec G115 -- it was written from one
	if n := f.count(); n > 0 {
		c.Attributes = make(map[string]string, n)
		for range n {
			k := f.text()
			c.Attributes[k] = f.text()
		}
	}
	return c
}
