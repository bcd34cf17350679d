package leasecli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"
)

// output is a form of what is printed.
type output string

const (
	outputText output = "text"
	outputJSON output = "json"
	outputURL  output = "url"
)

func (o *output) addFlag(f *pflag.FlagSet, among ...output) {
	f.StringVarP((*string)(o), "output", "o", string(*o), "`form` of what is printed: "+words(among))
}

func (o output) check(among ...output) error {
	if !slices.Contains(among, o) {
		return fmt.Errorf("--output %q is none of %s", string(o), words(among))
	}
	return nil
}

func words(outputs []output) string {
	all := make([]string, len(outputs))
	for i, o := range outputs {
		all[i] = string(o)
	}
	return strings.Join(all, ", ")
}

// list is how the API writes several leases.
type list[T any] struct {
	Leases []T `json:"leases"`
	Count  int `json:"count"`
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// table is for people.
type table struct{ *tabwriter.Writer }

func newTable(w io.Writer, columns ...string) table {
	t := table{tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)}
	t.row(columns...)
	return t
}

// row is written by flush, which tells the errors.
func (t table) row(cells ...string) {
	for i, c := range cells {
		if c == "" {
			cells[i] = "-"
		}
	}
	_, _ = fmt.Fprintln(t, strings.Join(cells, "\t"))
}

func (t table) flush() error { return t.Flush() }

// in is a time from now; the clocks of two machines may make it negative.
func in(d time.Duration) string { return "in " + rounded(d) }

func rounded(d time.Duration) string { return max(0, d).Round(time.Second).String() }
