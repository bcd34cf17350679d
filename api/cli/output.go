package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"
)

// Output is a form of what is printed.
type Output string

// The forms.
const (
	Text Output = "text"
	JSON Output = "json"
)

// AddFlag lets people choose among forms. The default is what o is.
func (o *Output) AddFlag(f *pflag.FlagSet, among ...Output) {
	f.StringVarP((*string)(o), "output", "o", string(*o), "`form` of what is printed: "+words(among))
}

// Check refuses all other forms.
func (o Output) Check(among ...Output) error {
	if !slices.Contains(among, o) {
		return fmt.Errorf("--output %q is none of %s", string(o), words(among))
	}
	return nil
}

func words(outputs []Output) string {
	all := make([]string, len(outputs))
	for i, o := range outputs {
		all[i] = string(o)
	}
	return strings.Join(all, ", ")
}

// PrintJSON is for programs.
func PrintJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// Table is for people.
type Table struct{ lines *tabwriter.Writer }

// NewTable begins with a row of headings.
func NewTable(w io.Writer, columns ...string) Table {
	t := Table{tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)}
	t.Row(columns...)
	return t
}

// Row is written by Flush, which tells the errors.
func (t Table) Row(cells ...string) {
	for i, c := range cells {
		if c == "" {
			cells[i] = "-"
		}
	}
	_, _ = fmt.Fprintln(t.lines, strings.Join(cells, "\t"))
}

// Flush writes the rows.
func (t Table) Flush() error { return t.lines.Flush() }
