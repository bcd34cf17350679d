package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"example.com/fairlead/activities/addon/charts"
	"example.com/fairlead/activities/addon/render"
	"example.com/fairlead/api/addons/definition"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

func (r *rendering) runDefinition(ctx context.Context, out, errs io.Writer) error {
	text, err := os.ReadFile(r.file)
	if err != nil {
		return fmt.Errorf("-f: %w", err)
	}
	d, err := definition.Parse(r.file, text)
	if err != nil {
		return err
	}
	var rendered string
	warn := func(format string, args ...any) { _, _ = fmt.Fprintf(errs, "warning: "+format+"\n", args...) }
	if d.Spec.Source.Helm != nil {
		rendered, err = r.definedChart(ctx, d, warn)
	} else {
		rendered, err = r.definedFolder(ctx, d.Spec.Source.Git, warn)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.file, err)
	}
	_, err = io.WriteString(out, rendered)
	return err
}

// warner tells what the output lacks.
type warner func(format string, args ...any)

func (r *rendering) definedChart(ctx context.Context, d *definition.Definition, warn warner) (string, error) {
	caps, err := render.Offline(r.kubeVersion, r.apiVersions)
	if err != nil {
		return "", fmt.Errorf("--%s: %w", flagKubeVersion, err)
	}
	for _, from := range d.Spec.ValuesFrom {
		if from.SecretRef != nil {
			warn("valuesFrom: Secret %s is left out: there is no cluster to read it from", from.SecretRef.Name)
		} else {
			warn("valuesFrom: ConfigMap %s is left out: there is no cluster to read it from", from.ConfigMapRef.Name)
		}
	}
	values, err := render.Values([]byte(d.Spec.Values))
	if err != nil {
		return "", err
	}
	source, err := r.fetch(ctx, d.Spec.Source.Helm, warn)
	if err != nil {
		return "", err
	}
	req := render.Request{Release: d.Name, Namespace: d.Spec.Namespace, Values: values, Capabilities: caps}
	if d.Spec.ReleaseName != "" {
		req.Release = d.Spec.ReleaseName
	}
	result, err := render.Chart(ctx, source, req)
	if err != nil {
		return "", err
	}
	return result.Text(r.withHooks), nil
}

// fetch gets a chart from its repository, or from the cache.
func (r *rendering) fetch(ctx context.Context, helm *addons.HelmSource, warn warner) (*render.Source, error) {
	withoutCredentials("helm", helm.CredentialsSecretRef, warn)
	dir := r.cacheDir
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("give --%s, a directory for charts: %w", flagCacheDir, err)
		}
		dir = filepath.Join(cache, "fairlead", "charts")
	}
	fetcher := &charts.Fetcher{Dir: dir}
	resolved, err := fetcher.Resolve(ctx, charts.Source{Repo: helm.Repo, Chart: helm.Chart, Version: helm.Version}, nil)
	if err != nil {
		return nil, err
	}
	archive, err := fetcher.Fetch(ctx, resolved, nil)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(archive.Reader())
	if err := errors.Join(err, archive.Close()); err != nil {
		return nil, fmt.Errorf("read chart %s from the cache: %w", helm.Chart, err)
	}
	return render.Archive(data)
}

func withoutCredentials(source string, ref *addons.SecretRef, warn warner) {
	if ref != nil {
		warn("%s.credentialsSecretRef: Secret %s is left out: there is no cluster to read it from; trying without credentials", source, ref.Name)
	}
}
