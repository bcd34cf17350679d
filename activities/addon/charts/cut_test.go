package charts

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// versionBytes is enough for every index of these tests.
const versionBytes = 1 << 20

func releasesOf(index, chart string) ([]release, error) {
	content := strings.NewReader(index)
	known, err := contents(content)
	if errors.Is(err, errFlow) {
		return flowReleases(content, content.Size(), chart, versionBytes)
	}
	if err != nil {
		return nil, err
	}
	return releases(content, known, chart, versionBytes)
}

// web are the two versions that the indexes below have of the chart web.
var web = []release{
	{Version: "1.1.0", URLs: []string{"web-1.1.0.tgz"}, Digest: "aa"},
	{Version: "1.0.0", URLs: []string{"https://charts.example.com/web-1.0.0.tgz"}},
}

const plainIndex = `apiVersion: v1
entries:
  cache:
  - version: 9.9.9
    urls: [cache.tgz]
  web:
  - apiVersion: v2
    description: A web server
    digest: aa
    urls:
    - web-1.1.0.tgz
    version: 1.1.0
  - version: 1.0.0
    urls:
    - https://charts.example.com/web-1.0.0.tgz
  zoo:
  - version: 8.8.8
    urls: [zoo.tgz]
generated: "2026-01-02T03:04:05Z"
`

func TestReleasesOfAnIndex(t *testing.T) {
	for _, tt := range []struct {
		name, index string
	}{
		{"as Helm writes it", plainIndex},
		{"with CRLF", strings.ReplaceAll(plainIndex, "\n", "\r\n")},
		{"with CR alone", strings.ReplaceAll(plainIndex, "\n", "\r")},
		{"with a byte order mark", "\xef\xbb\xbf" + plainIndex},
		{"all of it indented", "   " + strings.ReplaceAll(strings.TrimSuffix(plainIndex, "\n"), "\n", "\n   ")},
		{"with directives and document markers", "%YAML 1.1\n# index\n---\n" + plainIndex + "...\n"},
		{"before a second document", plainIndex + "---\nentries:\n  web:\n  - version: 7.7.7\n"},
		{"without a line break at the end", strings.TrimSuffix(plainIndex, "\n")},
		{"with the chart at the very end", "entries:\n  web:\n  - {version: 1.1.0, urls: [web-1.1.0.tgz], digest: aa}\n" +
			"  - {version: 1.0.0, urls: ['https://charts.example.com/web-1.0.0.tgz']}"},
		{"with quoted keys", strings.NewReplacer("entries:", `"entries" :`, "  web:", "  'web':", "  zoo:", `  "zo\u006f":`).Replace(plainIndex)},
		{"with lists further to the right", strings.NewReplacer("\n  -", "\n      -", "\n    ", "\n        ").Replace(plainIndex)},
		{"with comments where nothing else is", strings.ReplaceAll(plainIndex, "\n", " # web:\n# entries:\n\n")},
		{"with the versions in flow style", `entries:
    zoo: [{version: 8.8.8, description: "
web:"}]
    web: [{version: 1.1.0, urls: [web-1.1.0.tgz], digest: aa},
# web:
  {version: 1.0.0, urls: ["https://charts.example.com/web-1.0.0.tgz"]}]
`},
		{"all of it in flow style", `{entries: {web: [{version: 1.1.0, urls: [web-1.1.0.tgz], digest: aa},
 {version: 1.0.0, urls: ["https://charts.example.com/web-1.0.0.tgz"]}]}}`},
		{"as JSON", `{"apiVersion": "v1", "x": [{"entries": {"web": 1}}], "entries": {"cache": [{"version": "9.9.9"}], "web": [
			{"version": "1.1.0", "urls": ["web-1.1.0.tgz"], "digest": "aa", "more": {"version": 3}},
			{"version": "1.0.0", "urls": ["https://charts.example.com/web-1.0.0.tgz"]}]}, "generated": "today"}`},
		{"with the entries in flow style", `entries: {"web": [{"version": "1.1.0", "urls": ["web-1.1.0.tgz"], "digest": "aa"},
  {"version": "1.0.0", "urls": ["https://charts.example.com/web-1.0.0.tgz"]}]}`},
		{"with text of all kinds that looks like keys", `entries:
  aaa:
  - description: |
      text

     	web:
     web: no
    version: |-
     x
    more: "
  web:
    - version: 6.6.6
  \"
 web: "
    even: 'it''s

  web:'
    plain: it's
     web "
    list: [a, 'b
  web: ', it's, {"c":"
  web:"}, # ]
  d]
  web:
  - version: 1.1.0
    urls: [web-1.1.0.tgz]
    digest: aa
  - urls:
      - "https://charts.example.com/\
        web-1.0.0.tgz"
    version: &v 1.0.0
    appVersion: *v
`},
		{"with names as values elsewhere", "annotations:\n  web:\n  - version: 5.5.5\n" + plainIndex + "more:\n  web:\n  - version: 4.4.4\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := releasesOf(tt.index, "web")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(web, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestMalformedIndex(t *testing.T) {
	many := strings.Repeat("x", versionBytes)
	var names strings.Builder
	for i := range maxCharts + 1 {
		fmt.Fprintf(&names, "  c%d:\n", i)
	}
	for _, tt := range []struct {
		name, index, want string
	}{
		{"is empty", "", "no entries"},
		{"is a page", "<!DOCTYPE html>\n<html><body>log in</body></html>", "line 1: there is text"},
		{"has entries twice", "entries:\n  a:\n  - version: 1.0.0\nentries:\n", "line 4: entries is there twice"},
		{"has the chart twice", "entries:\n  web:\n  - version: 1.0.0\n  web:\n  - version: 1.0.0\n", `line 4: chart "web" is there twice`},
		{"has the chart twice as JSON", `{"entries":{"web":[],"web":[]}}`, `"web" is there twice`},
		{"has a list for entries", "entries:\n- web\n", "line 2: there is a list"},
		{"has text for entries", "entries: web\n", "line 1: entries is no list"},
		{"has entries by an anchor", "entries: &all\n  web: []\n", "line 1: entries has an anchor"},
		{"merges others", "entries:\n  <<: *all\n", "line 2: entries merges others"},
		{"has a chart by an anchor", "x: &x\n- version: 1.0.0\nentries:\n  web: *x\n", "line 4: the chart refers to an anchor elsewhere"},
		{"has keys by question mark", "entries:\n  ? web\n  : []\n", "line 2: keys that begin with"},
		{"never closes a quote", "entries:\n  a: \"b\n  web: []\n", "line 2: a quote is never closed"},
		{"never closes a bracket", "entries:\n  a: [b\n  web:\n", "line 2: a bracket is never closed"},
		{"has a key further to the left", "entries:\n   a:\n  web: []\n", "line 3: the key is further to the left"},
		{"has two keys on a line", "entries:\n  a: b: c\n", "line 2: a key follows another"},
		{"has a mistake in the chart", "entries:\n  a: []\n  web:\n  - version: 1.0.0\n  - version: 1.1.0\n    urls: [a}\n  b: []\n", "line 5: did not find"},
		{"has a wrong type in the chart", "entries:\n  web:\n  - version: 1.0.0\n    urls: 7\n", "line 4: cannot unmarshal"},
		{"has a key twice in the chart", "entries:\n  web:\n  - version: 1.0.0\n    version: 1.0.0\n", "line 4: mapping key"},
		{"says too much of a version", "entries:\n  web:\n  - version: 1.0.0\n    x: " + many + "\n", "line 3: what the index says"},
		{"says too much of a version as JSON", `{"entries":{"web":[{"version":"` + many + many + `"}]}}`, "one value of the index is larger"},
		{"is large and in flow style", "{entries: {web: [{version: " + many + "}]}}", "in flow style and no JSON"},
		{"has more charts than there are", "entries:\n" + names.String(), "line 20002: the index has more than 20000 charts"},
		{"has a zero byte", "entries:\n  a:\x00\n", "line 2: there is a zero byte"},
		{"is in UTF-16", "\xff\xfee\x00", "line 1: the index is not in UTF-8"},
		{"has no such chart", plainIndex, "no such chart"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			chart := "web"
			if tt.index == plainIndex {
				chart = "we"
			}
			got, err := releasesOf(tt.index, chart)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("releases %v, error %v; want %q", got, err, tt.want)
			}
			if !errors.Is(err, ErrPermanent) {
				t.Error("the error does not say that a retry is of no use")
			}
		})
	}
}

func TestCutReadsNoMoreThanTheChart(t *testing.T) {
	var index strings.Builder
	index.WriteString("entries:\n")
	for i := range 1000 {
		fmt.Fprintf(&index, "  chart-%03d:\n  - version: 1.0.%d\n    urls: [a.tgz]\n  - version: 1.0.0\n", i, i)
	}
	known, err := contents(strings.NewReader(index.String()))
	if err != nil {
		t.Fatal(err)
	}
	sections, err := known["chart-500"].versions(strings.NewReader(index.String()))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range sections {
		got = append(got, fmt.Sprintf("%d: %s", s.line, index.String()[s.start:s.end]))
	}
	want := []string{"2003:   - version: 1.0.500\n    urls: [a.tgz]\n", "2005:   - version: 1.0.0\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
