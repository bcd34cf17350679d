package git_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"example.com/fairlead/activities/git"
)

// Types of objects in a pack.
const (
	typeBlob     = 3
	typeRefDelta = 7
)

// object of a pack that says it has size bytes.
func object(t *testing.T, kind byte, size uint64, content []byte) []byte {
	t.Helper()
	head := []byte{kind<<4 | byte(size&15)}
	for size >>= 4; size > 0; size >>= 7 {
		head[len(head)-1] |= 0x80
		head = append(head, byte(size&127))
	}
	if kind == typeRefDelta {
		head = append(head, make([]byte, 20)...)
	}
	packed := bytes.NewBuffer(head)
	z := zlib.NewWriter(packed)
	_, err := z.Write(content)
	must(t, err)
	must(t, z.Close())
	return packed.Bytes()
}

func pack(count uint32, objects ...[]byte) *bytes.Reader {
	head := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), count)
	return bytes.NewReader(append(head, bytes.Join(objects, nil)...))
}

// delta makes something of size bytes.
func delta(t *testing.T, size uint64) []byte {
	t.Helper()
	content := binary.AppendUvarint(binary.AppendUvarint(nil, 4), size)
	return object(t, typeRefDelta, uint64(len(content)), content)
}

func TestPacksAreMeasured(t *testing.T) {
	small := object(t, typeBlob, 4, []byte("blob"))
	for _, tt := range []struct {
		name string
		pack *bytes.Reader
		want string
	}{
		{"one that is small", pack(2, small, delta(t, 1<<20)), ""},
		{"a file that is large", pack(2, small, object(t, typeBlob, 1<<20+1, nil)), "a file of it: it is larger than 1 MiB"},
		{"a file that a delta makes large", pack(2, small, delta(t, 1<<40)), "a file of it: it is larger than 1 MiB"},
		{"many files that are large together", pack(100, bytes.Repeat(delta(t, 1<<20), 100)), "all that is in it: it is larger than 64 MiB"},
		{"more objects than there can be", pack(1 << 31), "more than 1048576 objects"},
		{"fewer objects than it says", pack(3, small), "EOF"},
		{"more in a file than it says", pack(1, object(t, typeBlob, 1, []byte("blob"))), "exceeds declared size"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reader := &git.Reader{MaxPack: 1 << 20, MaxFile: 1 << 20}
			err := reader.Measure(t.Context(), tt.pack)
			if tt.want == "" {
				must(t, err)
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one that says %q", err, tt.want)
			}
		})
	}
}

func TestLargeFilesAreNotRead(t *testing.T) {
	r := newRepo(t)
	commit := r.commit(map[string]string{"small": "a\n", "large": strings.Repeat("a", 2<<20)})
	t.Run("of a server", func(t *testing.T) {
		s := r.serve(false)
		reader := s.reader(t)
		reader.MaxFile = 1 << 20
		_, err := reader.Files(t.Context(), s.repoURL(), commit, nil)
		var large *git.TooLargeError
		if !errors.As(err, &large) || large.Limit != reader.MaxFile || !errors.Is(err, git.ErrPermanent) {
			t.Errorf("error %v", err)
		}
		empty(t, reader)
	})
	t.Run("of this machine", func(t *testing.T) {
		files, err := (&git.Reader{MaxFile: 1 << 20}).Files(t.Context(), r.dir, commit, nil)
		must(t, err)
		_, err = fs.ReadFile(files, "large")
		var large *git.TooLargeError
		if !errors.As(err, &large) {
			t.Errorf("error %v", err)
		}
		_, err = fs.ReadFile(files, "small")
		must(t, err)
	})
}
