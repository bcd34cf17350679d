package render_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/addon/render"
)

// exact are the values of a file of the test data.
func exact(t *testing.T, name string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(valuesFile(name))
	if err != nil {
		t.Fatal(err)
	}
	values, err := render.Values(text)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func with(values map[string]any) func(*render.Request) {
	return func(r *render.Request) { r.Values = values }
}

func TestValuesHaveExactIntegers(t *testing.T) {
	want := map[string]any{
		"count":    int64(9007199254740993),
		"small":    5.0,
		"negative": int64(-1000000),
		"list":     []any{map[string]any{"deep": int64(2000000)}},
		"float":    1.5,
		"beyond":   1.2345678901234568e+29,
	}
	if diff := cmp.Diff(want, exact(t, "numbers")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

func TestTemplatesPrintIntegersAsTheyAreGiven(t *testing.T) {
	data := dataOf(t, "numbers", exact(t, "numbers"))
	if data["plain"] != "9007199254740993" || data["int"] != "9007199254740993" {
		t.Errorf("2^53+1 is %q, as an int64 %q", data["plain"], data["int"])
	}
	if !strings.Contains(data["yaml"], "count: 9007199254740993\n") {
		t.Errorf("2^53+1 is in YAML:\n%s", data["yaml"])
	}
}

func TestChartsThatNeedFloatsGetThem(t *testing.T) {
	for chart, want := range map[string]string{"formats": "1000000", "compares": "true"} {
		if got := dataOf(t, chart, exact(t, "million"))["plain"]; got != want {
			t.Errorf("chart %s: got %q, want %q", chart, got, want)
		}
	}
}

func TestValuesAreNotChanged(t *testing.T) {
	values := exact(t, "parent")
	before, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	setOf(t, "parent", with(values))
	after, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(before), string(after)); diff != "" {
		t.Errorf("the render changed the values (-before +after):\n%s", diff)
	}
}

func TestASourceRendersTheSameAgain(t *testing.T) {
	source, err := render.Open(chartDir("parent"))
	if err != nil {
		t.Fatal(err)
	}
	req := render.Request{Release: "shop", Namespace: "trade"}
	if req.Capabilities, err = render.Offline("", nil); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, values := range []map[string]any{nil, exact(t, "parent"), nil} {
		req.Values = values
		result, err := render.Chart(t.Context(), source, req)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, result.Text(true))
	}
	if texts[0] == texts[1] {
		t.Error("the values between made no difference")
	}
	if diff := cmp.Diff(texts[0], texts[2]); diff != "" {
		t.Errorf("a render between left something behind (-first +third):\n%s", diff)
	}
}

func TestRendersOfOneSourceDoNotMeet(t *testing.T) {
	source, err := render.Open(chartDir("parent"))
	if err != nil {
		t.Fatal(err)
	}
	caps, err := render.Offline("", nil)
	if err != nil {
		t.Fatal(err)
	}
	values := exact(t, "parent")
	texts := make(chan string)
	for i := range 16 {
		req := render.Request{Release: "shop", Namespace: "trade", Capabilities: caps}
		if i%2 == 1 {
			req.Values = values
		}
		go func() {
			result, err := render.Chart(t.Context(), source, req)
			if err != nil {
				texts <- err.Error()
				return
			}
			texts <- result.Text(true)
		}()
	}
	count := map[string]int{}
	for range 16 {
		count[<-texts]++
	}
	for text, n := range count {
		if n != 8 {
			t.Errorf("%d of 16 renders are\n%s", n, text)
		}
	}
}

func TestUndeclaredSubchartsHaveOneOrder(t *testing.T) {
	var first string
	for range 10 {
		result, err := chartOf(t, "undeclared", nil)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = result.Text(false)
		}
		if diff := cmp.Diff(first, result.Text(false)); diff != "" {
			t.Fatalf("another render is another text (-first +later):\n%s", diff)
		}
	}
}

// dataOf is the data of the one ConfigMap that the chart makes.
func dataOf(t *testing.T, chart string, values map[string]any) map[string]string {
	t.Helper()
	objects := setOf(t, chart, with(values)).Objects
	if len(objects) != 1 {
		t.Fatalf("chart %s makes %d objects", chart, len(objects))
	}
	data := map[string]string{}
	in, _ := objects[0].Object["data"].(map[string]any)
	for k, v := range in {
		data[k], _ = v.(string)
	}
	return data
}

// Rendered without the values of its user, a chart installs something else.
func TestANumberThatNoFloatHoldsIsRefused(t *testing.T) {
	digits := strings.Repeat("7", 310)
	_, err := chartOf(t, "formats", with(map[string]any{"count": int64(1_000_000), "big": json.Number(digits)}))
	if err == nil || !strings.Contains(err.Error(), "put it in quotes") {
		t.Fatalf("got error %v, want one that says what to do", err)
	}
	if strings.Contains(err.Error(), digits) {
		t.Errorf("the error quotes the value: %v", err)
	}
}
