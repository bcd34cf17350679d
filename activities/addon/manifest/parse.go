package manifest

import (
	"bytes"
	"fmt"
	"regexp"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Helm splits at three dashes that start a line, whatever follows them: charts whose
// templates trim a newline too many, as in "---apiVersion: v1", are in use.
var separator = regexp.MustCompile(`(?m)^---[ \t]*`)

var byteOrderMark = []byte("\xef\xbb\xbf")

// Parse reads the objects of a file of YAML or JSON documents. Lists are replaced by
// their items, documents without content are skipped. What it returns are the values
// that Helm and kubectl send; an integer that no int64 holds is a float64, as it is for
// the API server. An object may have a generateName for its name: see Check.
func Parse(source string, data []byte) ([]Object, error) {
	file := reader{source: source}
	if err := each(source, data, file.add); err != nil {
		return nil, err
	}
	return file.objects, nil
}

// Values reads the documents of a file as Parse does, whatever they are.
func Values(source string, data []byte) ([]any, error) {
	var values []any
	err := each(source, data, func(value any) error {
		values = append(values, value)
		return nil
	})
	return values, err
}

// each hands the documents of a file that have content over, one after the other.
func each(source string, data []byte, document func(value any) error) error {
	budget := maxValues
	for i, doc := range split(data) {
		value, err := decode(doc, &budget)
		if err == nil && value != nil {
			err = document(value)
		}
		if err != nil {
			return fmt.Errorf("%s: document %d (line %d): %w", source, i+1, doc.firstLine(), err)
		}
	}
	return nil
}

// document is a part of a file.
type document struct {
	text []byte
	// line is the number of its first line in the file, from 1.
	line int
}

// split cuts a file into its documents. What is before the first separator is none if it is blank.
func split(data []byte) []document {
	data = bytes.TrimPrefix(data, byteOrderMark)
	var docs []document
	start, line := 0, 1
	add := func(end int) {
		text := data[start:end]
		if start > 0 || len(bytes.TrimSpace(text)) > 0 {
			docs = append(docs, document{text: text, line: line})
		}
	}
	for _, mark := range separator.FindAllIndex(data, -1) {
		add(mark[0])
		line += bytes.Count(data[start:mark[0]], []byte("\n"))
		start = mark[1]
	}
	add(len(data))
	return docs
}

// firstLine is the line of the first thing in d that is not a comment.
func (d document) firstLine() int {
	line := d.line
	for text := range bytes.Lines(d.text) {
		if content := bytes.TrimSpace(text); len(content) > 0 && content[0] != '#' {
			return line
		}
		line++
	}
	return d.line
}

// reader collects the objects of one file.
type reader struct {
	source  string
	objects []Object
}

// add appends the object that value is, or those that it lists.
func (r *reader) add(value any) error { return r.addAt(value, 0) }

func (r *reader) addAt(value any, depth int) error {
	object, isObject := value.(map[string]any)
	if !isObject {
		return fmt.Errorf("it is %s, not an object", describe(value))
	}
	items, isList, err := itemsOf(object)
	if err != nil {
		return err
	}
	if !isList {
		if err := wellFormed(object); err != nil {
			return err
		}
		r.objects = append(r.objects, Object{Unstructured: &unstructured.Unstructured{Object: object}, Source: r.source})
		return nil
	}
	if depth == maxListDepth {
		return fmt.Errorf("lists are in lists more than %d deep", maxListDepth)
	}
	for i, item := range items {
		if err := r.addAt(item, depth+1); err != nil {
			return fmt.Errorf("item %d: %w", i+1, err)
		}
	}
	return nil
}
