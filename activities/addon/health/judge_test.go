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

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, generation: 2}
`

func TestDeployments(t *testing.T) {
	t.Parallel()
	const available = `{type: Available, status: "True", reason: MinimumReplicasAvailable, message: Deployment has minimum availability.}`
	const complete = `{type: Progressing, status: "True", reason: NewReplicaSetAvailable, message: ReplicaSet "web-5d4" has successfully progressed.}`
	const unavailable = `{type: Available, status: "False", reason: MinimumReplicasUnavailable, message: Deployment does not have minimum availability.}`
	const late = `{type: Progressing, status: "False", reason: ProgressDeadlineExceeded, message: ReplicaSet "web-5d4" has timed out progressing.}`
	judge(t, []judged{
		{"all replicas are available", deployment + `
spec: {replicas: 2, progressDeadlineSeconds: 600}
status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2, conditions: [` + available + `, ` + complete + `]}
`, healthy},
		{"one of two is available", deployment + `
spec: {replicas: 2, progressDeadlineSeconds: 600}
status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1, unavailableReplicas: 1, conditions: [` + unavailable + `]}
`, progressing("1 of 2 replicas are available")},
		{"a rollout is on its way", deployment + `
spec: {replicas: 3, progressDeadlineSeconds: 600}
status: {observedGeneration: 2, replicas: 4, updatedReplicas: 1, readyReplicas: 3, availableReplicas: 3, conditions: [` + available + `]}
`, progressing("1 of 3 replicas are updated")},
		{"no controller has seen it", deployment + `
spec: {replicas: 1, progressDeadlineSeconds: 600}
`, progressing("0 of 1 replicas are there")},
		{"the last change was not seen", deployment + `
spec: {replicas: 1, progressDeadlineSeconds: 600}
status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, conditions: [` + available + `, ` + complete + `]}
`, progressing("its controller has not seen the last change yet")},
		{"past its progress deadline", deployment + `
spec: {replicas: 1, progressDeadlineSeconds: 600}
status: {observedGeneration: 2, replicas: 1, updatedReplicas: 1, unavailableReplicas: 1, conditions: [` + unavailable + `, ` + late + `]}
`, degraded(`Progress deadline exceeded: ReplicaSet "web-5d4" has timed out progressing.`)},
		{"a quota allows no pods", deployment + `
spec: {replicas: 2, progressDeadlineSeconds: 600}
status: {observedGeneration: 2, unavailableReplicas: 2, conditions: [` + unavailable + `, {type: ReplicaFailure, status: "True", reason: FailedCreate, message: 'pods "web-5d4-x" is forbidden: exceeded quota: small'}]}
`, progressing(`0 of 2 replicas are there: pods "web-5d4-x" is forbidden: exceeded quota: small`)},
		{"scaled to zero", deployment + `
spec: {replicas: 0, progressDeadlineSeconds: 600}
status: {observedGeneration: 2}
`, healthy},
		{"scaled to zero, and pods still end", deployment + `
spec: {replicas: 0, progressDeadlineSeconds: 600}
status: {observedGeneration: 2, replicas: 1, updatedReplicas: 1, conditions: [` + available + `, ` + complete + `]}
`, progressing("Pending termination: 1")},
		{"paused in a rollout", deployment + `
spec: {replicas: 2, paused: true, progressDeadlineSeconds: 600}
status: {observedGeneration: 2, replicas: 2, readyReplicas: 2, availableReplicas: 2, conditions: [` + available + `, {type: Progressing, status: Unknown, reason: DeploymentPaused}]}
`, healthy},
		{"paused, with too few pods", deployment + `
spec: {replicas: 2, paused: true, progressDeadlineSeconds: 600}
status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1, conditions: [{type: Progressing, status: Unknown, reason: DeploymentPaused}]}
`, progressing("1 of 2 replicas are available")},
		{"being deleted", `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [foregroundDeletion, example.com/hold]}
`, progressing("is being deleted, held by the finalizers foregroundDeletion, example.com/hold")},
	})
}

func TestOtherWorkloads(t *testing.T) {
	t.Parallel()
	const set = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db, generation: 1}\n"
	const daemons = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent, generation: 1}\n"
	const job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: load, generation: 1}\n"
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: one, creationTimestamp: \"2026-01-01T00:00:00Z\"}\n"
	judge(t, []judged{
		{"StatefulSet that runs", set + `
spec: {replicas: 2, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0}}}
status: {observedGeneration: 1, replicas: 2, readyReplicas: 2, availableReplicas: 2, currentReplicas: 2, updatedReplicas: 2, currentRevision: a, updateRevision: a}
`, healthy},
		{"StatefulSet that starts", set + `
spec: {replicas: 3}
status: {observedGeneration: 1, replicas: 3, readyReplicas: 1, currentReplicas: 3, updatedReplicas: 3}
`, progressing("1 of 3 replicas are ready")},
		{"StatefulSet whose pods people replace, and one is not ready", set + `
spec: {replicas: 2, updateStrategy: {type: OnDelete}}
status: {observedGeneration: 1, replicas: 2, readyReplicas: 1, currentReplicas: 2}
`, progressing("1 of 2 replicas are ready")},
		{"StatefulSet whose pods people are to replace", set + `
spec: {replicas: 2, updateStrategy: {type: OnDelete}}
status: {observedGeneration: 1, replicas: 2, readyReplicas: 2, currentReplicas: 1, updatedReplicas: 1, currentRevision: a, updateRevision: b}
`, healthy},
		{"StatefulSet without replicas", set + "spec: {replicas: 0}\nstatus: {observedGeneration: 1, replicas: 0, currentRevision: a, updateRevision: b}\n", healthy},
		{"DaemonSet that runs", daemons + `
status: {observedGeneration: 1, desiredNumberScheduled: 2, currentNumberScheduled: 2, updatedNumberScheduled: 2, numberReady: 2, numberAvailable: 2, numberMisscheduled: 0}
`, healthy},
		{"DaemonSet with no node to run on", daemons + `
status: {observedGeneration: 1, desiredNumberScheduled: 0, currentNumberScheduled: 0, numberReady: 0, numberMisscheduled: 0}
`, healthy},
		{"DaemonSet that starts", daemons + `
status: {observedGeneration: 1, desiredNumberScheduled: 2, currentNumberScheduled: 2, updatedNumberScheduled: 2, numberReady: 1, numberAvailable: 1, numberUnavailable: 1, numberMisscheduled: 0}
`, progressing("1 of 2 pods are available")},
		{"DaemonSet whose pods people are to replace", daemons + `
spec: {updateStrategy: {type: OnDelete}}
status: {observedGeneration: 1, desiredNumberScheduled: 2, currentNumberScheduled: 2, updatedNumberScheduled: 0, numberReady: 2, numberAvailable: 2, numberMisscheduled: 0}
`, healthy},
		{"DaemonSet that no controller has seen", daemons, progressing("DaemonSet status.observedGeneration not found")},
		{"Job that runs", job + `
status: {startTime: "2026-01-01T00:00:00Z", active: 1, ready: 1, failed: 2}
`, progressing("is running: 1 pods are active, 0 have succeeded, 2 have failed")},
		{"Job that has not started", job, progressing("has not started")},
		{"Job that is done", job + `
status: {startTime: "2026-01-01T00:00:00Z", succeeded: 1, conditions: [{type: SuccessCriteriaMet, status: "True"}, {type: Complete, status: "True"}]}
`, healthy},
		{"Job that failed", job + `
status: {startTime: "2026-01-01T00:00:00Z", failed: 7, conditions: [{type: FailureTarget, status: "True"}, {type: Failed, status: "True", reason: BackoffLimitExceeded, message: Job has reached the specified backoff limit}]}
`, degraded("failed: BackoffLimitExceeded: Job has reached the specified backoff limit")},
		{"Job that is suspended", job + `
spec: {suspend: true}
status: {conditions: [{type: Suspended, status: "True", reason: JobSuspended, message: Job suspended}]}
`, healthy},
		{"CronJob that is suspended", "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: nightly}\nspec: {suspend: true}\nstatus: {}\n", healthy},
		{"Pod that is ready", pod + `
status: {phase: Running, conditions: [{type: Ready, status: "True"}]}
`, healthy},
		{"Pod that failed", pod + `
status: {phase: Failed, reason: Evicted, message: 'The node was low on resource: memory.'}
`, degraded("failed: Evicted: The node was low on resource: memory.")},
		{"Pod that crashes again and again", pod + `
status: {phase: Running, conditions: [{type: Ready, status: "False"}], containerStatuses: [{name: main, state: {waiting: {reason: CrashLoopBackOff}}}]}
`, degraded("Containers in CrashLoop state: main")},
		{"Pod that fits no node", pod + `
status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: 0/3 nodes are available}]}
`, degraded("Pod could not be scheduled")},
	})
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
