package charts

import (
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"example.com/fairlead/activities/fetch"
)

// release is what an index says of one version of a chart, as far as it matters here.
type release struct {
	Version string   `yaml:"version" json:"version"`
	URLs    []string `yaml:"urls" json:"urls"`
	Digest  string   `yaml:"digest" json:"digest"`
}

// releases reads what an index says of one chart; its contents are known. No more than
// limit bytes of it are parsed at a time.
func releases(index io.ReaderAt, known map[string]*block, chart string, limit int64) ([]release, error) {
	b := known[chart]
	switch {
	case b == nil:
		return nil, errNoChart
	case b.again > 0:
		return nil, errorAt(b.again, "chart %q is there twice", chart)
	case b.whole:
		return parse(index, b.section, true, limit)
	}
	sections, err := b.versions(index)
	if err != nil {
		return nil, err
	}
	var all []release
	for _, part := range sections {
		some, err := parse(index, part, false, limit)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// parse reads a section that is a list, or one with its key if it is whole.
func parse(index io.ReaderAt, part section, whole bool, limit int64) ([]release, error) {
	size := part.end - part.start
	if size > limit {
		return nil, errorAt(part.line, "what the index says of this version has %d MiB, more than %d", size>>20, limit>>20)
	}
	text := make([]byte, size)
	if _, err := index.ReadAt(text, part.start); err != nil {
		return nil, fetch.Temporary("read the index: %w", err)
	}
	var list []release
	named := map[string][]release{}
	into := any(&list)
	if whole {
		into = &named
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		return nil, yamlError(err, part.line)
	}
	for _, versions := range named {
		list = append(list, versions...)
	}
	return list, nil
}

// lineOf finds the line in an error of the YAML parser.
var lineOf = regexp.MustCompile(`(?s)line (\d+): (.*)`)

// yamlError counts the lines from the beginning of the index; first is where the parsed
// text begins.
func yamlError(err error, first int) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if strings.HasPrefix(text, "unknown anchor") {
		return errorAt(first, "the chart refers to an anchor elsewhere in the index, which is not supported: %s", text)
	}
	if found := lineOf.FindStringSubmatch(text); found != nil {
		if n, err := strconv.Atoi(found[1]); err == nil {
			return errorAt(first+n-1, "%s", found[2])
		}
	}
	return errorAt(first, "%s", text)
}
