// Package render makes of a Helm chart the text that `helm template` of Helm 3.22 prints,
// byte for byte, and the objects and hooks in it. It knows no cluster, network or process: what
// a chart may learn of them is in the Request.
//
// It parts with Helm where Helm would fetch, or render something else than what the chart says:
//   - A schema's references to other files and hosts are an error.
//   - A dependency that is missing in the charts folder, or there in another version than wanted,
//     is an error at any depth; Helm looks at names and at the first level only.
//   - Subcharts that Chart.yaml does not declare are in the order of their names; Helm prints
//     their crds folders in a random order.
//   - Integers of Values are exact; see Values.
package render

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"

	"example.com/fairlead/activities/addon/mask"
)

// ErrPanic is of a chart that makes Helm panic.
var ErrPanic = errors.New("rendering the chart panicked")

// Chart renders the chart as an install of revision 1, whatever is in the cluster.
//
// A template cannot be interrupted. When ctx ends, Chart returns its error, and a template that
// loops goes on in the background, with what it allocates, until it ends by itself. A template
// that includes itself fails at 1,000 levels. One that calls tpl on itself overflows the stack,
// which ends the process, in Helm too: run charts of strangers in a process of their own.
func Chart(ctx context.Context, source *Source, req Request) (*Result, error) {
	type outcome struct {
		result *Result
		err    error
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	done := make(chan outcome, 1)
	go func() {
		result, err := renderSafely(ctx, source, req)
		done <- outcome{result, shown(err, mask.New(req.Secrets))}
	}()
	select {
	case o := <-done:
		return o.result, o.err
	case <-ctx.Done():
		return nil, fmt.Errorf("render the chart for release %s: it takes too long: %w", req.Release, context.Cause(ctx))
	}
}

func renderSafely(ctx context.Context, source *Source, req Request) (result *Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			result, err = nil, fmt.Errorf("release %s: %w: %v", req.Release, ErrPanic, r)
		}
	}()
	result, err = renderWith(ctx, source, req)
	if !takesNoIntegers(result, err) {
		return result, err
	}
	if req.Values, err = asFloats(req.Values); err != nil {
		return nil, fmt.Errorf("release %s: %w", req.Release, err)
	}
	return renderWith(ctx, source, req)
}

func renderWith(ctx context.Context, source *Source, req Request) (*Result, error) {
	if err := chartutil.ValidateReleaseName(req.Release); err != nil {
		return nil, fmt.Errorf("release name %q: %w", req.Release, err)
	}
	if req.Lookup != nil && req.Hash == nil {
		return nil, fmt.Errorf("release %s: %w", req.Release, errNoHash)
	}
	c, err := source.parse()
	if err != nil {
		return nil, err
	}
	values := req.Values
	if values == nil {
		values = map[string]any{}
	}
	if err := chartutil.ProcessDependenciesWithMerge(c, values); err != nil {
		return nil, fmt.Errorf("dependencies of chart %s: %w", c.Name(), err)
	}
	if err := missingBelow(c); err != nil {
		return nil, err
	}
	top, err := dot(c, values, req)
	if err != nil {
		return nil, err
	}
	recorder := newRecorder(ctx, req)
	files, err := execute(c, top, recorder)
	if err != nil {
		return nil, fmt.Errorf("chart %s: %w", c.Name(), err)
	}
	result, err := sorted(c, files)
	if err != nil {
		return nil, err
	}
	result.Answers, result.secrets = recorder.answers(), mask.New(req.Secrets)
	return result, nil
}

// dot is what templates see as the dot: release, values, capabilities, chart.
func dot(c *chart.Chart, values map[string]any, req Request) (chartutil.Values, error) {
	caps, err := req.forHelm()
	if err != nil {
		return nil, err
	}
	if req.OwnAPIs {
		caps.APIVersions = append(caps.APIVersions[:len(caps.APIVersions):len(caps.APIVersions)], ownAPIs(c)...)
	}
	options := chartutil.ReleaseOptions{Name: req.Release, Namespace: req.Namespace, Revision: 1, IsInstall: true}
	top, err := chartutil.ToRenderValuesWithSchemaValidation(c, values, options, caps, true)
	if err != nil {
		return nil, fmt.Errorf("values of chart %s: %w", c.Name(), err)
	}
	all, err := top.Table("Values")
	if err != nil {
		return nil, fmt.Errorf("values of chart %s: %w", c.Name(), err)
	}
	if err := validate(c, all); err != nil {
		return nil, fmt.Errorf("the values do not fit: %w", err)
	}
	if wanted := c.Metadata.KubeVersion; wanted != "" && !chartutil.IsCompatibleRange(wanted, caps.KubeVersion.Version) {
		return nil, fmt.Errorf("chart %s requires Kubernetes %s, and this is %s", c.Name(), wanted, caps.KubeVersion.Version)
	}
	return top, nil
}

func execute(c *chart.Chart, top chartutil.Values, r *recorder) (map[string]string, error) {
	if r.req.Lookup == nil {
		return engine.Render(c, top)
	}
	return engine.RenderWithClientProvider(c, top, r)
}

// notesFile is text for people, wherever it is.
const notesFile = "NOTES.txt"

// sorted makes of the rendered files the documents in Helm's order.
func sorted(c *chart.Chart, files map[string]string) (*Result, error) {
	for name := range files {
		if strings.HasSuffix(name, notesFile) {
			delete(files, name)
		}
	}
	hooks, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return nil, fmt.Errorf("chart %s: %w", c.Name(), err)
	}
	result := &Result{Name: c.Name(), Version: c.Metadata.Version, hooks: hooks}
	for _, crd := range c.CRDObjects() {
		result.crds = append(result.crds, document{source: crd.Filename, text: string(crd.File.Data)})
	}
	for _, m := range manifests {
		result.documents = append(result.documents, document{source: m.Name, text: m.Content})
	}
	return result, nil
}

// misprinted is what a template makes of an integer that it formats as a float.
var misprinted = regexp.MustCompile(`%![eEfFgG]\(int64=`)

// takesNoIntegers says whether the chart relies on Helm's way to give it all numbers as
// floats: it compares them with a float, or formats them as one.
func takesNoIntegers(result *Result, err error) bool {
	if err != nil {
		return strings.Contains(err.Error(), "incompatible types for comparison")
	}
	return result.contains(misprinted)
}
