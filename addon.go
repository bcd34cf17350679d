package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/fairlead/activities/addon/render"
	"example.com/fairlead/api/addoncli"
)

const (
	flagFilename    = "filename"
	flagRepo        = "repo"
	flagCacheDir    = "cache-dir"
	flagChart       = "chart"
	flagRelease     = "release"
	flagNamespace   = "namespace"
	flagValues      = "values"
	flagKubeVersion = "kube-version"
	flagAPIVersions = "api-versions"
	flagWithHooks   = "with-hooks"
)

func addonCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "addon",
		Short: "Look at add-ons, sync and delete them",
		Long:  `What a cluster needs besides its applications, from a Helm chart or a git folder.`,
	}
	cmd.AddCommand(renderCommand())
	cmd.AddCommand(addoncli.Commands()...)
	return cmd
}

// rendering is what `fairlead addon render` is asked for: a definition or a chart.
type rendering struct {
	file, repo, cacheDir      string
	chart, release, namespace string
	values                    []string
	kubeVersion               string
	apiVersions               []string
	withHooks                 bool
}

func renderCommand() *cobra.Command {
	var r rendering
	cmd := &cobra.Command{
		Use:   "render -f FILE | --" + flagChart + " DIR|TGZ --" + flagRelease + " NAME",
		Short: "Print what an add-on or a chart makes",
		Long: `Prints the objects that an add-on's definition makes, or a Helm chart.

With --chart it prints, byte for byte, what
"helm template NAME CHART --include-crds --no-hooks" of Helm 3.22 does. It needs no
cluster and no network: what the chart depends on must be in its charts folder.

With -f it does the same with the chart that the definition names, fetched if it is not
in the cache, and with the definition's release name, namespace and values. It parts with
Helm in one thing, as add-ons do: Helm makes all numbers of values floats, so that a
template prints 1000000 as 1e+06; here whole numbers from a million on stay whole.
A folder in git is printed as "kubectl kustomize" does, or file by file where it has no
kustomization. It is read as it lies in the working copy that the definition is in, or
in --repo: you see what you are about to commit.
What only a cluster has, Secrets and ConfigMaps, is left out, and standard error says so.`,
		Example: `  fairlead addon render -f addons/longhorn.yaml --kube-version v1.36.1
  fairlead addon render -f addons/umami.yaml --repo ../apps
  fairlead addon render --chart ./longhorn --release longhorn --namespace longhorn-system
  fairlead addon render --chart longhorn-1.10.2.tgz --release longhorn --values site.yaml --values secret.yaml
  fairlead addon render --chart ./longhorn --release longhorn --api-versions monitoring.coreos.com/v1 --with-hooks`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := r.check(cmd.Flags()); err != nil {
				return err
			}
			if r.file != "" {
				return r.runDefinition(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			return r.runChart(cmd.Context(), cmd.OutOrStdout())
		},
	}
	r.addFlags(cmd.Flags())
	return cmd
}

func (r *rendering) addFlags(f *pflag.FlagSet) {
	f.StringVarP(&r.file, flagFilename, "f", "", "`file` that defines an add-on")
	f.StringVar(&r.repo, flagRepo, "", "`directory` of the git repository that has the folder of the definition (default: the one that has the definition, or what its git.repo says)")
	f.StringVar(&r.cacheDir, flagCacheDir, "", "`directory` that keeps the charts of definitions (default: fairlead/charts in your cache directory)")
	f.StringVar(&r.chart, flagChart, "", "`path` of the chart: a directory or a .tgz")
	f.StringVar(&r.release, flagRelease, "", "`name` of the release")
	f.StringVarP(&r.namespace, flagNamespace, "n", "default", "`namespace` of the release")
	f.StringArrayVar(&r.values, flagValues, nil, "`file` of values over those of the chart; may be given again, the last one wins")
	f.StringVar(&r.kubeVersion, flagKubeVersion, "", "Kubernetes `version` that the chart is told (default: Helm's)")
	f.StringSliceVar(&r.apiVersions, flagAPIVersions, nil, "`APIs` that the chart is told of besides those of Kubernetes, as example.com/v1 or example.com/v1/Widget")
	f.BoolVar(&r.withHooks, flagWithHooks, false, "print the hooks too, after the objects")
}

// check refuses flags that are not for what is asked for.
func (r *rendering) check(f *pflag.FlagSet) error {
	if r.file != "" {
		for _, name := range []string{flagChart, flagRelease, flagNamespace, flagValues} {
			if f.Changed(name) {
				return fmt.Errorf("--%s does not go with -f: it is the definition that says so, in %s", name, r.file)
			}
		}
		return nil
	}
	for _, name := range []string{flagRepo, flagCacheDir} {
		if f.Changed(name) {
			return fmt.Errorf("--%s goes with -f only, the file that defines an add-on", name)
		}
	}
	if r.chart == "" {
		return fmt.Errorf("give -f, the file that defines an add-on, or give --%s, the directory or .tgz of a chart", flagChart)
	}
	if r.release == "" {
		return fmt.Errorf("give --%s, the name of the release, which the chart's objects are mostly named after", flagRelease)
	}
	return nil
}

func (r *rendering) runChart(ctx context.Context, out io.Writer) error {
	source, err := render.Open(r.chart)
	if err != nil {
		return fmt.Errorf("--%s: %w", flagChart, err)
	}
	req, err := r.request()
	if err != nil {
		return err
	}
	result, err := render.Chart(ctx, source, req)
	if err != nil {
		return fmt.Errorf("%s: %w", r.chart, err)
	}
	_, err = io.WriteString(out, result.Text(r.withHooks))
	return err
}

func (r *rendering) request() (render.Request, error) {
	caps, err := render.Offline(r.kubeVersion, r.apiVersions)
	if err != nil {
		return render.Request{}, fmt.Errorf("--%s: %w", flagKubeVersion, err)
	}
	req := render.Request{Release: r.release, Namespace: r.namespace, Capabilities: caps}
	for _, file := range r.values {
		text, err := os.ReadFile(file) // #nosec G304 -- the file that was asked for
		if err != nil {
			return render.Request{}, fmt.Errorf("--%s: %w", flagValues, err)
		}
		values, err := render.HelmValues(text)
		if err != nil {
			return render.Request{}, fmt.Errorf("--%s: %s: %w", flagValues, file, err)
		}
		req.Values = render.Merge(req.Values, values)
	}
	return req, nil
}
