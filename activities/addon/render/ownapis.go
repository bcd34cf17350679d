package render

import (
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/releaseutil"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// ownAPIs are what the API server will serve once the crds folder is installed. CRDs among the
// templates are seen by the render that follows their install.
func ownAPIs(c *chart.Chart) []string {
	var apis []string
	for _, file := range c.CRDObjects() {
		for _, text := range releaseutil.SplitManifests(string(file.File.Data)) {
			var crd apiextensions.CustomResourceDefinition
			if err := yaml.Unmarshal([]byte(text), &crd); err != nil || crd.Kind != "CustomResourceDefinition" {
				continue // Set says what is wrong with it
			}
			for _, v := range crd.Spec.Versions {
				if v.Served {
					gv := crd.Spec.Group + "/" + v.Name
					apis = append(apis, gv, gv+"/"+crd.Spec.Names.Kind)
				}
			}
		}
	}
	return apis
}
