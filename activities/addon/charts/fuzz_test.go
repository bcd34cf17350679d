package charts

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// FuzzCut compares what is cut out of an index with what a parser makes of all of it.
// What the parser refuses, the cutter may accept: it does not look into other charts.
func FuzzCut(f *testing.F) {
	for _, seed := range []string{
		plainIndex, strings.ReplaceAll(plainIndex, "\n", "\r\n"), `{"entries":{"web":[{"version":"1"}]}}`,
		"entries:\n  a: |\n   b\n  web: [{version: 1}]\n", "entries:\n  a: \"\n  web: \\\"\"\n  'web': \n    - version: >-\n       1\n",
		"entries:\n  a: {b: [c, 'd\n'], \"e\":\"f\"}\n  web:\n  - digest: a\n", "x: y\n z\nentries:\n web:\n -\n  version: 1\n - version: 2\n",
		"entries:\n  a: b\n   # c\n  web: # d\n  - version: 'e'\n    x: &y z\n    v: *y\n...\n", "--- # x\nentries:\n  \"web\": null\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(compareCut)
}

// fragments of which most combinations are YAML, and some an index.
var fragments = strings.Split("entries:| web:|  web:|a:|  a:|    b: |version: 1|urls: [u]|\n|\n|\n|\n  |\n    |\n  - |\n    - |- |\"|'|{|}|[|]|,|: |:|#| #| |  |\\|>-|\r\n|text|x: y|---|..."+
	"|\u2028|\t|~|''|\"\"|\nentries:\n  web:\n  - |\nentries:\n web:\n - version: 1\n  |!!str ", "|")

func assemble(picks []byte) string {
	var index strings.Builder
	for _, pick := range picks {
		fragment := fragments[int(pick)%len(fragments)]
		if fragment == ">-" && pick > 128 {
			fragment = "|" // what separates the fragments
		}
		index.WriteString(fragment)
	}
	return index.String()
}

// FuzzCutFragments does the same with what looks more like an index.
func FuzzCutFragments(f *testing.F) {
	f.Add([]byte("\x00\x08\x02\x0d\x06"))
	f.Fuzz(func(t *testing.T, picks []byte) { compareCut(t, assemble(picks)) })
}

// TestCutAgreesWithParser is a short fuzzing that is the same each time.
func TestCutAgreesWithParser(t *testing.T) {
	random, charts := rand.NewChaCha8([32]byte{}), 0
	for range 10_000 {
		picks := make([]byte, 2+random.Uint64()%8)
		_, _ = random.Read(picks)
		index := "entries:\n  a: " + assemble(picks[1:]) + "\n  web:\n  - version: 1\n" + assemble(picks[:1])
		if found, err := wholeReleases(strings.NewReader(index), "web"); err == nil && len(found) > 0 {
			charts++
		}
		compareCut(t, index)
	}
	if charts < 500 {
		t.Errorf("only %d indexes were well-formed and had the chart", charts)
	}
}

func compareCut(t *testing.T, index string) {
	want, refused := wholeReleases(strings.NewReader(index), "web")
	got, err := releasesOf(index, "web")
	if refused != nil && !errors.Is(refused, errNoChart) || isUnsupported(index, err) {
		return
	}
	if (err != nil) != (refused != nil) {
		t.Fatalf("%q\ncut: %v %v; parsed: %v %v", index, got, err, want, refused)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("-parsed +cut:\n%s", diff)
	}
}

// isUnsupported is for what only a whole parser can know, and for keys to the left of
// the first, where a parser takes the document to have ended.
func isUnsupported(index string, err error) bool {
	return err != nil && (strings.ContainsAny(index, "&*?\x00") || strings.Contains(err.Error(), "further to the left"))
}
