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
		p.lent = &lent{p.Candidate, appendCandidate(nil, &p.Candidate)}
	}
	return p.lent
}

func readLent(f *form) *lent {
	all := f.left
	l := &lent{Candidate: readCandidate(f)}
	l.form = all[:len(all)-len(f.left)]
	return l
}

// appendCandidate has what a client was told of a proxy, and no more.
func appendCandidate(b []byte, c *Candidate) []byte {
	b = appendText(appendText(b, c.Key), c.UID)
	b = appendText(appendText(b, c.Scheme), c.Host)
	b = appendNumber(appendNumber(b, int64(c.Port)), int64(len(c.Attributes)))
	for _, k := range slices.Sorted(maps.Keys(c.Attributes)) {
		b = appendText(appendText(b, k), c.Attributes[k])
	}
	return b
}

func readCandidate(f *form) Candidate {
	c := Candidate{Key: f.text(), UID: f.text(), Scheme: f.text(), Host: f.text()}
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
