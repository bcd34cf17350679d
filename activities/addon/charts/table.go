package charts

import "errors"

// maxTables bounds how many indexes are known by their contents.
const maxTables = 16

// table has the contents of the index of that digest.
type table struct {
	digest string
	blocks map[string]*block
}

// contents of the last few indexes are kept. They are never changed.
func (f *Fetcher) contents(digest string) (blocks map[string]*block, err error) {
	if blocks := f.knownContents(digest); blocks != nil {
		return blocks, nil
	}
	// Not the file of whoever asked first, who may close it and go.
	file, err := f.files.open(digest)
	if errors.Is(err, errNotStored) {
		return nil, errThrashing
	}
	if err != nil {
		return nil, err
	}
	blocks, err = contents(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known = append(f.known[max(0, len(f.known)-maxTables+1):], table{digest, blocks})
	return blocks, nil
}

func (f *Fetcher) knownContents(digest string) map[string]*block {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range f.known {
		if t.digest == digest {
			return t.blocks
		}
	}
	return nil
}
