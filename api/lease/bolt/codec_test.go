package bolt

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/fairlead/api/lease"
)

// FuzzValue decodes what may be anything; what can be decoded is the same when it is encoded
// and decoded again.
func FuzzValue(f *testing.F) {
	var b []byte
	b = startValue(b)
	for _, c := range group(7) {
		b = appendChange(b, c.Kind, c.Key, c.Value)
	}
	seal(b)
	f.Add(b[headerSize:])
	f.Add(b[headerSize : len(b)-1])
	f.Add([]byte{})
	f.Add([]byte{1})
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0})                     // a key's length
	f.Add([]byte{1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})                     // a value's
	f.Add([]byte{1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})         // no number
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 'x'}) // nor this
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := unseal(body); err == nil {
			t.Skip("a value with the right checksum by chance")
		}
		entries, err := appendEntries(nil, body)
		if err != nil {
			return
		}
		value := startValue(nil)
		for _, e := range entries {
			value = appendChange(value, e.kind, e.key, e.value)
		}
		again, err := unseal(seal(value))
		must(t, err)
		got, err := appendEntries(nil, again)
		must(t, err)
		if diff := cmp.Diff(entries, got, cmp.AllowUnexported(entry{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("encoded and decoded again, it differs (-want +got):\n%s", diff)
		}
	})
}

func TestAGoneThingIsNotAnEmptyOne(t *testing.T) {
	value := appendChange(startValue(nil), 1, "empty", []byte{})
	value = appendChange(value, lease.Kind(1), "gone", nil)
	body, err := unseal(seal(value))
	must(t, err)
	entries, err := appendEntries(nil, body)
	must(t, err)
	if len(entries) != 2 || entries[0].value == nil || entries[1].value != nil {
		t.Errorf("decoded as %q, want an empty one and one that is gone", entries)
	}
}
