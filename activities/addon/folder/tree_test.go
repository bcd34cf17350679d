package folder

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// opened remembers which files were opened.
type opened struct {
	fstest.MapFS

	names []string
}

func (o *opened) Open(name string) (fs.File, error) {
	o.names = append(o.names, name)
	return o.MapFS.Open(name)
}

func TestFileThatIsTooLargeIsNotOpened(t *testing.T) {
	files := &opened{MapFS: fstest.MapFS{
		"half":  {Data: make([]byte, maxBytes/2+1)},
		"large": {Data: make([]byte, maxBytes+1)},
		"other": {Data: make([]byte, maxBytes/2)},
	}}
	repository := &tree{ctx: t.Context(), files: files, read: map[string][]byte{}}
	for _, tt := range []struct {
		name string
		fits bool
	}{{"large", false}, {"half", true}, {"other", false}} {
		files.names = nil
		_, err := repository.file(tt.name)
		if tt.fits && err != nil || !tt.fits && (err == nil || !strings.Contains(err.Error(), tt.name+" is too much")) {
			t.Errorf("%s: error %v", tt.name, err)
		}
		if !tt.fits && len(files.names) > 0 {
			t.Errorf("%v was opened", files.names)
		}
	}
}
