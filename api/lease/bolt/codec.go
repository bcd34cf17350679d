package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"example.com/fairlead/api/lease"
)

// A value is a version, the checksum of what follows, and changes in the order in which they
// were made: the kind, the key's length, the key, the value's length plus one, the value. A
// thing that is gone has length plus one 0. bbolt has no checksums of its own for these.
const (
	valueVersion = 1
	headerSize   = 1 + crc32.Size
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// entry is a lease.Change whose bytes are the file's.
type entry struct {
	kind       lease.Kind
	key, value []byte
}

// startValue begins a value in the room of b.
func startValue(b []byte) []byte {
	return append(b[:0], valueVersion, 0, 0, 0, 0)
}

// appendChange adds a change to a value that was started.
func appendChange[K string | []byte](b []byte, kind lease.Kind, key K, value []byte) []byte {
	b = append(b, byte(kind))
	b = binary.AppendUvarint(b, uint64(len(key)))
	b = append(b, key...)
	if value == nil {
		return append(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(len(value))+1)
	return append(b, value...)
}

// seal ends a value.
func seal(b []byte) []byte {
	binary.BigEndian.PutUint32(b[1:], crc32.Checksum(b[headerSize:], castagnoli))
	return b
}

// unseal returns the changes of a value that is as it was sealed.
func unseal(value []byte) ([]byte, error) {
	if len(value) < headerSize {
		return nil, errCut
	}
	if value[0] != valueVersion {
		return nil, fmt.Errorf("it has version %d instead of %d", value[0], valueVersion)
	}
	body := value[headerSize:]
	if sum := crc32.Checksum(body, castagnoli); sum != binary.BigEndian.Uint32(value[1:]) {
		return nil, errors.New("its checksum is wrong")
	}
	return body, nil
}

// appendEntries adds the changes of an unsealed value to entries.
func appendEntries(entries []entry, body []byte) ([]entry, error) {
	for len(body) > 0 {
		e := entry{kind: lease.Kind(body[0])}
		n, rest, err := cutLength(body[1:])
		if err != nil || n > uint64(len(rest)) {
			return nil, errCut
		}
		e.key, rest = rest[:n:n], rest[n:]
		if n, rest, err = cutLength(rest); err != nil || n > uint64(len(rest))+1 {
			return nil, errCut
		}
		if n > 0 {
			e.value, rest = rest[:n-1:n-1], rest[n-1:]
		}
		entries, body = append(entries, e), rest
	}
	return entries, nil
}

func cutLength(b []byte) (n uint64, rest []byte, err error) {
	n, size := binary.Uvarint(b)
	if size <= 0 {
		return 0, nil, errCut
	}
	return n, b[size:], nil
}
