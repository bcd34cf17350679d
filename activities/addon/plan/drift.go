package plan

import (
	"context"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fairlead/activities/addon/manifest"
)

// autoscalers are read in the version that every supported cluster serves.
var autoscalers = schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}

// pageSize bounds one answer of the API server.
const pageSize = 500

// injectors are annotations that ask another program to write a CA bundle.
var injectors = []string{
	"cert-manager.io/inject-ca-from",
	"cert-manager.io/inject-ca-from-secret",
	"cert-manager.io/inject-apiserver-ca",
	"service.beta.openshift.io/inject-cabundle",
}

// othersFields are the fields of t that other programs write by arrangement, though
// the set may have values for them: replicas of an autoscaler, rules that are
// aggregated, injected CA bundles. What the set leaves out needs no word here: the
// API server keeps what others own.
func (s *session) othersFields(t *target) []pointer {
	var out []pointer
	if s.scaled[t.id] {
		out = append(out, pointer{"spec", "replicas"})
	}
	content := t.Object.Object
	if _, aggregated := content["aggregationRule"]; aggregated && t.id.GroupKind == clusterRoleKind {
		out = append(out, pointer{"rules"})
	}
	if injected(t.GetAnnotations()) {
		out = append(out,
			pointer{"spec", "caBundle"},
			pointer{"spec", "conversion", "webhook", "clientConfig", "caBundle"})
		hooks, _ := content["webhooks"].([]any)
		for i := range hooks {
			out = append(out, pointer{"webhooks", strconv.Itoa(i), "clientConfig", "caBundle"})
		}
	}
	return out
}

func injected(annotations map[string]string) bool {
	for _, name := range injectors {
		if _, ok := annotations[name]; ok {
			return true
		}
	}
	return false
}

// autoscaled finds the objects of the set whose replicas an autoscaler, of the cluster
// or of the set, decides.
func (s *session) autoscaled(ctx context.Context) (map[manifest.ID]bool, error) {
	out := map[manifest.ID]bool{}
	namespaces := map[string]bool{}
	for _, t := range s.targets {
		if _, has := (pointer{"spec", "replicas"}).get(t.Object.Object); has && t.live != nil {
			namespaces[t.id.Namespace] = true
		}
		if t.id.GroupKind == autoscalerKind {
			noteScaled(out, t.Unstructured)
		}
	}
	for namespace := range namespaces {
		if err := s.listAutoscalers(ctx, namespace, out); err != nil {
			return nil, fmt.Errorf("list the HorizontalPodAutoscalers of namespace %s: %w", namespace, err)
		}
	}
	return out, nil
}

func (p Planner) listAutoscalers(ctx context.Context, namespace string, out map[manifest.ID]bool) error {
	page := metav1.ListOptions{Limit: pageSize}
	for {
		list, err := p.Client.Resource(autoscalers).Namespace(namespace).List(ctx, page)
		if err != nil {
			return err
		}
		for i := range list.Items {
			noteScaled(out, &list.Items[i])
		}
		if page.Continue = list.GetContinue(); page.Continue == "" {
			return nil
		}
	}
}

func noteScaled(out map[manifest.ID]bool, autoscaler *unstructured.Unstructured) {
	ref, _, _ := unstructured.NestedStringMap(autoscaler.Object, "spec", "scaleTargetRef")
	version, err := schema.ParseGroupVersion(ref["apiVersion"])
	if err != nil {
		return
	}
	out[manifest.ID{
		GroupKind: schema.GroupKind{Group: version.Group, Kind: ref["kind"]},
		Namespace: autoscaler.GetNamespace(), Name: ref["name"],
	}] = true
}
