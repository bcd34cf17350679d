package render

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"helm.sh/helm/v3/pkg/chart"
)

// schemaFile names a chart's schema to the validator, which wants a URL.
const schemaFile = "file:///values.schema.json"

var errRemote = errors.New("a schema that refers to another file or host is not followed: include what it refers to")

// validate holds the values against the schemas of the chart and its subcharts. Helm's own
// way would fetch over HTTP, and read from disk, what a schema refers to.
func validate(c *chart.Chart, values map[string]any) error {
	var errs []error
	if c.Schema != nil {
		if err := validateOne(c.Schema, values); err != nil {
			errs = append(errs, fmt.Errorf("%s/values.schema.json: %w", c.ChartFullPath(), err))
		}
	}
	for _, sub := range c.Dependencies() {
		raw, ok := values[sub.Name()]
		if !ok || raw == nil {
			continue
		}
		table, ok := raw.(map[string]any)
		if !ok {
			errs = append(errs, fmt.Errorf("values of %s: want a map, got %T", sub.ChartFullPath(), raw))
			continue
		}
		errs = append(errs, validate(sub, table))
	}
	return errors.Join(errs...)
}

func validateOne(text []byte, values map[string]any) error {
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{"file": noLoader{}, "http": noLoader{}, "https": noLoader{}, "urn": anything{}})
	if err := compiler.AddResource(schemaFile, schema); err != nil {
		return err
	}
	compiled, err := compiler.Compile(schemaFile)
	if err != nil {
		return err
	}
	if err := compiled.Validate(values); err != nil {
		return misfit{err}
	}
	return nil
}

// misfit does not name schemaFile, as the first line of its error does.
type misfit struct{ error }

func (m misfit) Error() string {
	_, fields, _ := strings.Cut(m.error.Error(), "\n")
	return strings.TrimSpace(fields)
}

func (m misfit) Unwrap() error { return m.error }

type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errRemote }

// anything is what Helm takes for a schema with a name that nobody resolves.
type anything struct{}

func (anything) Load(string) (any, error) { return true, nil }
