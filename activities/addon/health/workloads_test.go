package health_test

import (
	"testing"

	addons "example.com/fairlead/api/addons/v1alpha1"
)

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
		{"Pod that is done", pod + `
status: {phase: Succeeded, conditions: [{type: Ready, status: "False", reason: PodCompleted}]}
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
		{"Pod whose node is lost", pod + "status: {phase: Unknown}\n",
			verdictOf(addons.HealthUnknown)("its status is not understood: unknown phase Unknown")},
	})
}
