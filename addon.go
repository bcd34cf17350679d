package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/fairlead/activities/addon/render"
)

const (
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
		Short: "Look at add-ons",
		Long:  `What a cluster needs besides its applications, from a Helm chart or a git folder.`,
	}
	cmd.AddCommand(renderCommand())
	return cmd
}

// rendering is what `fairlead addon render` is asked for.
type rendering struct {
	chart, release, namespace string
	values                    []string
	kubeVersion               string
	apiVersions               []string
	withHooks                 bool
}

func renderCommand() *cobra.Command {
	var r rendering
	cmd := &cobra.Command{
		Use:   "render --" + flagChart + " DIR|TGZ --" + flagRelease + " NAME",
		Short: "Print what a chart makes, as helm template does",
		Long: `Prints the objects of a Helm chart, byte for byte as
"helm template NAME CHART --include-crds --no-hooks" of Helm 3.22 does. It needs no
cluster and no network: what the chart depends on must be in its charts folder.`,
		Example: `  fairlead addon render --chart ./longhorn --release longhorn --namespace longhorn-system
  fairlead addon render --chart longhorn-1.10.2.tgz --release longhorn --values site.yaml --values secret.yaml
  fairlead addon render --chart ./longhorn --release longhorn --kube-version v1.36.1 --api-versions monitoring.coreos.com/v1
  fairlead addon render --chart ./longhorn --release longhorn --with-hooks`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return r.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	r.addFlags(cmd.Flags())
	return cmd
}

func (r *rendering) addFlags(f *pflag.FlagSet) {
	f.StringVar(&r.chart, flagChart, "", "`path` of the chart: a directory or a .tgz")
	f.StringVar(&r.release, flagRelease, "", "`name` of the release")
	f.StringVarP(&r.namespace, flagNamespace, "n", "default", "`namespace` of the release")
	f.StringArrayVar(&r.values, flagValues, nil, "`file` of values over those of the chart; may be given again, the last one wins")
	f.StringVar(&r.kubeVersion, flagKubeVersion, "", "Kubernetes `version` that the chart is told (default: Helm's)")
	f.StringSliceVar(&r.apiVersions, flagAPIVersions, nil, "`APIs` that the chart is told of besides those of Kubernetes, as example.com/v1 or example.com/v1/Widget")
	f.BoolVar(&r.withHooks, flagWithHooks, false, "print the hooks too, after the objects")
}

func (r *rendering) run(ctx context.Context, out io.Writer) error {
	if r.chart == "" {
		return fmt.Errorf("give --%s, the directory or .tgz of the chart", flagChart)
	}
	if r.release == "" {
		return fmt.Errorf("give --%s, the name of the release, which the chart's objects are mostly named after", flagRelease)
	}
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
