package child_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/render"
)

// rendered is all that comes of a render.
type rendered struct {
	Set     string
	Answers []render.Answer
	Digest  render.Digest
	Error   string
	Is      []bool
}

func newRendered(t *testing.T, set manifest.Set, answers []render.Answer, digest render.Digest, err error) rendered {
	t.Helper()
	if err != nil {
		out := rendered{Error: err.Error()}
		for _, class := range []error{render.ErrPanic, render.ErrMissing, render.ErrTooLarge} {
			out.Is = append(out.Is, errors.Is(err, class))
		}
		return out
	}
	text, err := manifest.Encode(set)
	if err != nil {
		t.Fatal(err)
	}
	return rendered{Set: string(text), Answers: answers, Digest: digest}
}

// here renders in this process.
func here(ctx context.Context, archive []byte, req render.Request) (manifest.Set, []render.Answer, render.Digest, error) {
	source, err := render.Archive(archive)
	if err != nil {
		return manifest.Set{}, nil, render.Digest{}, err
	}
	digest, err := req.Digest(source)
	if err != nil {
		return manifest.Set{}, nil, render.Digest{}, err
	}
	result, err := render.Chart(ctx, source, req)
	if err != nil {
		return manifest.Set{}, nil, render.Digest{}, err
	}
	set, err := result.Set()
	return set, result.Answers, digest, err
}

func TestRendersAsThisProcessDoes(t *testing.T) {
	r := newRenderer(t, nil)
	compare := func(t *testing.T, archive []byte, req render.Request) {
		t.Helper()
		set, answers, digest, err := here(t.Context(), archive, req)
		want := newRendered(t, set, answers, digest, err)
		set, answers, digest, err = r.Chart(t.Context(), archive, req)
		if diff := cmp.Diff(want, newRendered(t, set, answers, digest, err)); diff != "" {
			t.Errorf("rendered (-here +child):\n%s", diff)
		}
	}
	parsers := map[string]func([]byte) (map[string]any, error){"exact": render.Values, "as Helm's": render.HelmValues}
	for _, chart := range charts(t) {
		archive := testChart(t, chart)
		t.Run(chart, func(t *testing.T) {
			for _, own := range []bool{false, true} {
				compare(t, archive, request(t, func(req *render.Request) { req.OwnAPIs = own }))
			}
		})
		for how, parse := range parsers {
			for _, file := range valuesFiles(t) {
				t.Run(chart+" with "+filepath.Base(file)+" "+how, func(t *testing.T) {
					values := parsed(t, file, parse)
					compare(t, archive, request(t, func(req *render.Request) { req.Values = values }))
				})
			}
		}
	}
	t.Run("no archive", func(t *testing.T) { compare(t, []byte("no archive"), request(t, nil)) })
	t.Run("a number that no float holds", func(t *testing.T) {
		values, err := render.Values([]byte("n: 123456789012345678901234567890\nm: 9007199254740993\nf: 1.0\nnone: null\nlist: [1, 1.5, [], {}]"))
		if err != nil {
			t.Fatal(err)
		}
		template := configMap + `---` + "\n" + `{a: {{ range $k, $v := .Values }}{{ printf "%s %T %v" $k $v $v | quote }} {{ end }}`
		compare(t, chartOf(t, template), request(t, func(req *render.Request) { req.Values = values }))
	})
}

// charts are those of the tests of package render that end, and are the same each time.
func charts(t *testing.T) []string {
	t.Helper()
	dirs, err := os.ReadDir("../testdata/charts")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range dirs {
		if d.Name() != "endless" && !strings.HasPrefix(d.Name(), "random") {
			names = append(names, d.Name())
		}
	}
	if len(names) < 20 {
		t.Fatalf("there are charts missing: %v", names)
	}
	return names
}

func valuesFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../testdata/values/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatalf("files of values: %v, error %v", files, err)
	}
	return slices.DeleteFunc(files, func(file string) bool { return filepath.Base(file) == "list.yaml" })
}

func parsed(t *testing.T, file string, parse func([]byte) (map[string]any, error)) map[string]any {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	values, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func TestTemplatesLookUpWhatTheCallerAnswers(t *testing.T) {
	r := newRenderer(t, nil)
	lookup := func(_ context.Context, q render.Question) (map[string]any, error) {
		switch q {
		case render.Question{APIVersion: "v1", Kind: "Secret", Namespace: "trade", Name: "known"}:
			return map[string]any{"kind": "Secret", "data": map[string]any{"password": "c2VjcmV0"}, "n": int64(9007199254740993), "f": 1.5}, nil
		case render.Question{APIVersion: "v1", Kind: "Node"}:
			return map[string]any{"kind": "NodeList", "items": []any{map[string]any{"kind": "Node"}}}, nil
		}
		return nil, nil
	}
	req := request(t, func(req *render.Request) { req.Lookup = lookup })
	archive := testChart(t, "looks")
	set, answers, digest, err := here(t.Context(), archive, req)
	want := newRendered(t, set, answers, digest, err)
	if len(want.Answers) != 3 {
		t.Fatalf("the chart looks up %v (error %s)", want.Answers, want.Error)
	}
	set, answers, digest, err = r.Chart(t.Context(), archive, req)
	if diff := cmp.Diff(want, newRendered(t, set, answers, digest, err)); diff != "" {
		t.Errorf("rendered (-here +child):\n%s", diff)
	}
}

func TestAChartThatIsRenderedTwiceHasTheAnswersOfTheSecond(t *testing.T) {
	r := newRenderer(t, nil)
	node := func(n int64) map[string]any { return map[string]any{"kind": "Node", "n": n} }
	asked := int64(0)
	// The integer is compared with a float, so that all is rendered again with floats.
	archive := chartOf(t, `{{ $n := lookup "v1" "Node" "" "a" }}{{ if gt .Values.million 1.5 }}{{ end }}`+configMap)
	_, answers, _, err := r.Chart(t.Context(), archive, request(t, func(req *render.Request) {
		req.Values = map[string]any{"million": int64(1_000_000)}
		req.Lookup = func(context.Context, render.Question) (map[string]any, error) {
			asked++
			return node(asked), nil
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	second := request(t, func(req *render.Request) {
		req.Lookup = func(context.Context, render.Question) (map[string]any, error) { return node(2), nil }
	})
	want, err := second.Ask(t.Context(), render.Question{APIVersion: "v1", Kind: "Node", Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]render.Answer{want}, answers); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

func TestALookupThatFailsFailsTheRenderAlone(t *testing.T) {
	r := newRenderer(t, nil)
	_, _, _, err := r.Chart(t.Context(), testChart(t, "looks"), request(t, func(req *render.Request) {
		req.Lookup = func(context.Context, render.Question) (map[string]any, error) { return nil, errors.New("forbidden") }
	}))
	if err == nil || !strings.Contains(err.Error(), "trade/known") || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("got error %v, want one that names the object and the reason", err)
	}
	pid := onlyChild(t)
	if _, _, _, err := r.Chart(t.Context(), chartOf(t, configMap), request(t, nil)); err != nil || onlyChild(t) != pid {
		t.Errorf("the next render: error %v, child %d after %d", err, onlyChild(t), pid)
	}
}
