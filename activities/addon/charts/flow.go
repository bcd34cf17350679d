package charts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"example.com/fairlead/activities/fetch"
)

// flowReleases reads an index that is JSON, or that is small.
func flowReleases(index io.ReaderAt, size int64, chart string, limit int64) ([]release, error) {
	found, err := jsonReleases(io.NewSectionReader(index, 0, size), chart, limit)
	if err == nil || errors.Is(err, ErrPermanent) {
		return found, err
	}
	if size > limit {
		return nil, fetch.Permanent("the index is in flow style and no JSON (%w), and it is larger than %d MiB: let `helm repo index` write it", err, limit>>20)
	}
	return wholeReleases(io.NewSectionReader(index, 0, size), chart)
}

// wholeReleases parses all of an index.
func wholeReleases(index io.Reader, chart string) ([]release, error) {
	text, err := io.ReadAll(index)
	if err != nil {
		return nil, fetch.Temporary("read the index: %w", err)
	}
	var all struct {
		Entries map[string]yaml.Node `yaml:"entries"`
	}
	if err := yaml.Unmarshal(text, &all); err != nil {
		return nil, yamlError(err, 1)
	}
	node, ok := all.Entries[chart]
	if !ok {
		return nil, errNoChart
	}
	var found []release
	if err := node.Decode(&found); err != nil {
		return nil, yamlError(err, 1)
	}
	return found, nil
}

// jsonReleases reads JSON as a stream. An error without a class says that it is none.
func jsonReleases(index io.Reader, chart string, limit int64) ([]release, error) {
	j := jsonIndex{bounded: &bounded{r: index, limit: limit}}
	j.dec = json.NewDecoder(j.bounded)
	var found []release
	var hasEntries, hasChart bool
	err := j.object(func(name string) error {
		if name != "entries" {
			return j.skip()
		}
		if hasEntries {
			return fetch.Permanent("entries is there twice")
		}
		hasEntries = true
		return j.object(func(name string) (err error) {
			if name != chart {
				return j.skip()
			}
			if hasChart {
				return fetch.Permanent("chart %q is there twice", chart)
			}
			hasChart = true
			found, err = j.releases()
			return err
		})
	})
	switch {
	case err != nil:
		return nil, err
	case !hasEntries:
		return nil, fetch.Permanent("it is no index of a chart repository: it has no entries")
	case !hasChart:
		return nil, errNoChart
	}
	return found, nil
}

// jsonIndex has no more of an index in memory than one version of a chart.
type jsonIndex struct {
	dec     *json.Decoder
	bounded *bounded
}

func (j *jsonIndex) token() (json.Token, error) {
	j.bounded.used = 0
	return j.dec.Token()
}

// object calls each with the name of each member of an object or null; each reads its value.
func (j *jsonIndex) object(each func(name string) error) error {
	begin, err := j.token()
	if begin == nil || err != nil {
		return err
	}
	if begin != json.Delim('{') {
		return fmt.Errorf("an object is missing before byte %d", j.dec.InputOffset())
	}
	for j.dec.More() {
		name, err := j.token()
		if err != nil {
			return err
		}
		if err := each(fmt.Sprint(name)); err != nil {
			return err
		}
	}
	_, err = j.token()
	return err
}

// releases reads a list or null.
func (j *jsonIndex) releases() ([]release, error) {
	begin, err := j.token()
	if begin == nil || err != nil {
		return nil, err
	}
	if begin != json.Delim('[') {
		return nil, fetch.Permanent("the chart has no list of versions before byte %d", j.dec.InputOffset())
	}
	var found []release
	for j.dec.More() {
		j.bounded.used = 0
		var one release
		if err := j.dec.Decode(&one); err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	_, err = j.token()
	return found, err
}

func (j *jsonIndex) skip() error {
	for depth := 0; ; {
		token, err := j.token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// bounded fails when more than limit bytes were used since used was set to 0.
type bounded struct {
	r           io.Reader
	used, limit int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.used > b.limit {
		return 0, fetch.Permanent("one value of the index is larger than %d MiB", b.limit>>20)
	}
	n, err := b.r.Read(p)
	b.used += int64(n)
	return n, err
}
