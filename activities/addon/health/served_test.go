package health_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon/health"
	"example.com/fairlead/activities/addon/manifest"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/internal/eventually"
)

func TestAnAPIThatDisappears(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	definition := w.make(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.health.example.com}
spec:
  group: health.example.com
  names: {plural: boats, kind: Boat}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`)
	definition.Namespace = ""
	served := func() bool { return w.check(definition).Status == addons.HealthHealthy }
	eventually.Until(t, "the definition is established", served)
	boat := object(t, "apiVersion: health.example.com/v1\nkind: Boat\nmetadata: {name: one}\nstatus: {conditions: [{type: Ready, status: \"False\", message: no crew}]}\n")
	boat.SetNamespace(w.namespace)
	eventually.Until(t, "boats are served", func() bool { return w.Create(t.Context(), boat.DeepCopy()) == nil })
	owned := health.Owned{ID: manifest.Object{Unstructured: boat}.ID()}
	old, oldClient := w.mapper(), w.client(func(*rest.Config) {})
	want := addons.Health{Status: addons.HealthProgressing, Message: "Boat " + w.namespace + "/one: no crew"}
	if diff := cmp.Diff(want, w.checkAs(oldClient, old, owned)); diff != "" {
		t.Fatalf("health while boats are served (-want +got):\n%s", diff)
	}

	w.remove(definition, "apiextensions.k8s.io/v1")

	want = addons.Health{Status: addons.HealthUnknown, Message: "Boat " + w.namespace + "/one: its API is not served: Boat.health.example.com"}
	var last addons.Health
	unserved := func(reader client.Reader, mapper func() meta.RESTMapper) func() (bool, string) {
		return func() (bool, string) {
			last = w.checkAs(reader, mapper(), owned)
			return last.Status == addons.HealthUnknown, last.Message
		}
	}
	eventually.Sees(t, "a mapper that knew boats says they are not served", minute, unserved(oldClient, func() meta.RESTMapper { return old }))
	if diff := cmp.Diff(want, last); diff != "" {
		t.Errorf("health by an old mapper (-want +got):\n%s", diff)
	}
	eventually.Sees(t, "a new mapper says that boats are not served", minute, unserved(w.Client, w.mapper))
	if diff := cmp.Diff(want, last); diff != "" {
		t.Errorf("health by a new mapper (-want +got):\n%s", diff)
	}
	want = addons.Health{Status: addons.HealthMissing, Message: "CustomResourceDefinition boats.health.example.com: is not there; and 1 more"}
	if diff := cmp.Diff(want, w.check(owned, definition)); diff != "" {
		t.Errorf("health with the definition (-want +got):\n%s", diff)
	}
}

func TestAnAPIWhoseServerIsAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	service := object(t, `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.away.example.com}
spec: {group: away.example.com, version: v1, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true, service: {namespace: `+w.namespace+`, name: none}}
`)
	owned := w.create(service)
	t.Cleanup(func() { _ = w.Delete(context.WithoutCancel(t.Context()), service) })
	eventually.Until(t, "the API is found to be away", func() bool { return w.check(owned).Status == addons.HealthDegraded })
	if got := w.check(owned).Message; !strings.HasPrefix(got, "APIService v1.away.example.com: is not available: ServiceNotFound: ") {
		t.Errorf("message of the APIService: %q", got)
	}

	star := health.Owned{ID: manifest.ID{GroupKind: schema.GroupKind{Group: "away.example.com", Kind: "Star"}, Namespace: w.namespace, Name: "one"}}
	config := w.make(settings)
	want := addons.Health{Status: addons.HealthUnknown, Message: "Star " + w.namespace + "/one: its API is not served: Star.away.example.com"}
	if diff := cmp.Diff(want, w.check(star, config)); diff != "" {
		t.Errorf("health by what discovery finds (-want +got):\n%s", diff)
	}

	knew := meta.NewDefaultRESTMapper([]schema.GroupVersion{{Group: star.Group, Version: "v1"}, {Version: "v1"}})
	knew.Add(star.WithVersion("v1"), meta.RESTScopeNamespace)
	knew.Add(config.WithVersion("v1"), meta.RESTScopeNamespace)
	c, err := client.New(w.config, client.Options{Mapper: knew})
	w.must(err)
	got := w.checkAs(c, knew, star, config)
	if got.Status != addons.HealthUnknown || !strings.HasPrefix(got.Message, "Star "+w.namespace+"/one: its API does not answer: ") {
		t.Errorf("health by what was known before = %+v, want Unknown", got)
	}
}

func TestAMissingRightIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	secret := w.make("apiVersion: v1\nkind: Secret\nmetadata: {name: key}\n")
	deploy := w.make(web)
	namespace := &unstructured.Unstructured{}
	namespace.SetKind("Namespace")
	namespace.SetName(w.namespace)
	nobody := w.client(func(c *rest.Config) { c.Impersonate.UserName = "nobody" })
	for want, o := range map[string]health.Owned{
		"Secret " + w.namespace + "/key: there is no right to get secrets in namespace " + w.namespace:              secret,
		"Deployment " + w.namespace + "/web: there is no right to get deployments.apps in namespace " + w.namespace: deploy,
		"Namespace " + w.namespace + ": there is no right to get namespaces":                                        {ID: manifest.Object{Unstructured: namespace}.ID()},
	} {
		if diff := cmp.Diff(addons.Health{Status: addons.HealthUnknown, Message: want}, w.checkAs(nobody, w.mapper(), o)); diff != "" {
			t.Errorf("health of %s (-want +got):\n%s", o.ID, diff)
		}
	}
}
