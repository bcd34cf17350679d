package health_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"example.com/fairlead/activities/addon/health"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

// object has numbers as the API server's JSON gives them.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{}
	if err := json.Unmarshal(data, o); err != nil {
		t.Fatal(err)
	}
	return o
}

var (
	healthy     = health.Verdict{Status: addons.HealthHealthy}
	progressing = verdictOf(addons.HealthProgressing)
	degraded    = verdictOf(addons.HealthDegraded)
)

func verdictOf(s addons.HealthStatus) func(string) health.Verdict {
	return func(message string) health.Verdict { return health.Verdict{Status: s, Message: message} }
}

type judged struct {
	name, live string
	want       health.Verdict
}

func judge(t *testing.T, cases []judged) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			live := object(t, c.live)
			before := live.DeepCopy()
			if diff := cmp.Diff(c.want, health.Judge(live)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, live); diff != "" {
				t.Errorf("judging changed the object (-before +after):\n%s", diff)
			}
		})
	}
}

func TestClusterParts(t *testing.T) {
	t.Parallel()
	const claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\n"
	const service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"
	const crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: boats.example.com, generation: 1}\n"
	const api = "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1beta1.metrics.k8s.io}\n"
	judge(t, []judged{
		{"claim that is bound", claim + "spec: {volumeName: pv}\nstatus: {phase: Bound}\n", healthy},
		{"claim that waits for its first pod", claim + "status: {phase: Pending}\n", progressing("is not bound to a volume yet")},
		{"claim that lost its volume", claim + "spec: {volumeName: pv-7}\nstatus: {phase: Lost}\n", degraded("its volume pv-7 is lost")},
		{"Service within the cluster", service + "spec: {type: ClusterIP, clusterIP: 10.0.0.7}\nstatus: {loadBalancer: {}}\n", healthy},
		{"Service without an address", service + "spec: {type: LoadBalancer, clusterIP: 10.0.0.7}\nstatus: {loadBalancer: {}}\n",
			progressing("its load balancer has no address yet")},
		{"Service with an address", service + "spec: {type: LoadBalancer, clusterIP: 10.0.0.7}\nstatus: {loadBalancer: {ingress: [{ip: 192.0.2.7}]}}\n", healthy},
		{"definition that is established", crd + `
status: {conditions: [{type: NamesAccepted, status: "True", reason: NoConflicts}, {type: Established, status: "True", reason: InitialNamesAccepted}]}
`, healthy},
		{"definition that is new", crd + `
status: {conditions: [{type: NamesAccepted, status: "True", reason: NoConflicts}, {type: Established, status: "False", reason: Installing, message: the initial names have been accepted}]}
`, progressing("Install in progress")},
		{"definition whose names another has", crd + `
status: {conditions: [{type: NamesAccepted, status: "False", reason: PluralConflict, message: '"boats" is already in use'}, {type: Established, status: "False", reason: NotAccepted}]}
`, degraded(`"boats" is already in use`)},
		{"API that is available", api + "status: {conditions: [{type: Available, status: \"True\", reason: Passed}]}\n", healthy},
		{"API whose server has no endpoints", api + `
status: {conditions: [{type: Available, status: "False", reason: MissingEndpoints, message: endpoints for service/metrics in "kube-system" have no addresses}]}
`, degraded(`is not available: MissingEndpoints: endpoints for service/metrics in "kube-system" have no addresses`)},
		{"API that is new", api, progressing("was not looked at yet")},
		{"webhook", "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: check, generation: 3}\n", healthy},
		{"Secret", "apiVersion: v1\nkind: Secret\nmetadata: {name: key}\n", healthy},
	})
}

func TestCustomResources(t *testing.T) {
	t.Parallel()
	const boat = "apiVersion: example.com/v1\nkind: Boat\nmetadata: {name: one, generation: 2}\n"
	judge(t, []judged{
		{"no status", boat, healthy},
		{"no conditions", boat + "status: {crew: 3}\n", healthy},
		{"ready", boat + "status: {observedGeneration: 2, conditions: [{type: Ready, status: \"True\"}]}\n", healthy},
		{"not ready", boat + `
status: {conditions: [{type: Ready, status: "False", reason: DoesNotExist, message: Issuing certificate as Secret does not exist}]}
`, progressing("Issuing certificate as Secret does not exist")},
		{"not ready, without a word why", boat + "status: {conditions: [{type: Ready, status: \"False\"}]}\n", progressing("its controller gives no reason")},
		{"ready, but not for the last change", boat + `
status: {conditions: [{type: Ready, status: "True", observedGeneration: 1}]}
`, progressing("its condition Ready does not speak of the last change yet")},
		{"not available", boat + `
status: {conditions: [{type: Available, status: "False", reason: NoCrew, message: nobody is on board}]}
`, progressing("NoCrew: nobody is on board")},
		{"ready counts more than available", boat + `
status: {conditions: [{type: Available, status: "False"}, {type: Ready, status: "True"}]}
`, healthy},
		{"reconciling", boat + `
status: {conditions: [{type: Ready, status: "True"}, {type: Reconciling, status: "True", reason: Progressing, message: fetching}]}
`, progressing("fetching")},
		{"stalled", boat + `
status: {conditions: [{type: Ready, status: "False"}, {type: Stalled, status: "True", reason: InvalidURL, message: no such host}]}
`, degraded("no such host")},
		{"an older change was observed", boat + "status: {observedGeneration: 1, conditions: [{type: Ready, status: \"True\"}]}\n",
			progressing("its controller has not seen the last change yet")},
		{"the observed generation is text", boat + "status: {observedGeneration: \"1\"}\n", progressing("its controller has not seen the last change yet")},
		{"the observed generation is a hash", boat + "status: {observedGeneration: 5d4c}\n", healthy},
		{"the status is text", boat + "status: fine\n", healthy},
		{"conditions are a map", boat + "status: {conditions: {Ready: true}}\n", healthy},
		{"conditions are of many types", boat + "status: {conditions: [fine, 7, {type: [x]}, {type: Ready, status: true}, {type: Stalled, status: \"True\", message: aground}]}\n",
			degraded("aground")},
	})
}
