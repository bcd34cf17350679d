package health

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	addons "example.com/fairlead/api/addons/v1alpha1"
)

// byKind has the rules that people expect and kstatus does not have. It says false where
// those of kstatus are right.
func byKind(live *unstructured.Unstructured) (Verdict, bool) {
	switch live.GroupVersionKind().GroupKind().String() {
	case "Deployment.apps":
		return deployment(live)
	case "ReplicaSet.apps":
		return scaledToZero(live)
	case "StatefulSet.apps":
		return statefulSet(live)
	case "DaemonSet.apps":
		return daemonSet(live)
	case "Job.batch":
		return job(live), true
	case "Pod":
		return pod(live)
	case "PersistentVolumeClaim":
		return claim(live), true
	case "Service":
		return service(live)
	case "APIService.apiregistration.k8s.io":
		return apiService(live), true
	default:
		return Verdict{}, false
	}
}

// deployment: one that is paused waits for a person, not for its pods.
func deployment(live *unstructured.Unstructured) (Verdict, bool) {
	paused, _, _ := unstructured.NestedBool(live.Object, "spec", "paused")
	if paused && number(live, ".status.availableReplicas", 0) >= number(live, ".spec.replicas", 1) {
		return Verdict{Status: addons.HealthHealthy}, true
	}
	return scaledToZero(live)
}

func scaledToZero(live *unstructured.Unstructured) (Verdict, bool) {
	zero := number(live, ".spec.replicas", 1) == 0 && number(live, ".status.replicas", 0) == 0
	return Verdict{Status: addons.HealthHealthy}, zero
}

// statefulSet: kstatus takes one whose pods people replace for healthy, whatever they do.
func statefulSet(live *unstructured.Unstructured) (Verdict, bool) {
	if text(live, ".spec.updateStrategy.type") != "OnDelete" {
		return scaledToZero(live)
	}
	return enough(number(live, ".status.readyReplicas", 0), number(live, ".spec.replicas", 1), "replicas are ready"), true
}

// daemonSet: kstatus waits for the pods that people are to replace.
func daemonSet(live *unstructured.Unstructured) (Verdict, bool) {
	want := number(live, ".status.desiredNumberScheduled", -1)
	if text(live, ".spec.updateStrategy.type") != "OnDelete" || want < 0 {
		return Verdict{}, false
	}
	return enough(number(live, ".status.numberAvailable", 0), want, "pods are available"), true
}

func enough(have, want int, what string) Verdict {
	if have >= want {
		return Verdict{Status: addons.HealthHealthy}
	}
	return Verdict{addons.HealthProgressing, fmt.Sprintf("%d of %d %s", have, want, what)}
}

// job: one that runs is healthy for kstatus.
func job(live *unstructured.Unstructured) Verdict {
	if c, _ := conditionOf(live, "Complete"); c.status == "True" {
		return Verdict{Status: addons.HealthHealthy}
	}
	if c, _ := conditionOf(live, "Failed"); c.status == "True" {
		return Verdict{addons.HealthDegraded, joined("failed", c.words())}
	}
	if suspended, _, _ := unstructured.NestedBool(live.Object, "spec", "suspend"); suspended {
		return Verdict{Status: addons.HealthHealthy}
	}
	if text(live, ".status.startTime") == "" {
		return Verdict{addons.HealthProgressing, "has not started"}
	}
	return Verdict{addons.HealthProgressing, fmt.Sprintf("is running: %d pods are active, %d have succeeded, %d have failed",
		number(live, ".status.active", 0), number(live, ".status.succeeded", 0), number(live, ".status.failed", 0))}
}

// pod: one that failed has ended, which is all that kstatus asks for.
func pod(live *unstructured.Unstructured) (Verdict, bool) {
	if text(live, ".status.phase") != "Failed" {
		return Verdict{}, false
	}
	why := joined(text(live, ".status.reason"), text(live, ".status.message"))
	return Verdict{addons.HealthDegraded, joined("failed", why)}, true
}

// claim: one that is Pending may wait for its first pod, which is no fault.
func claim(live *unstructured.Unstructured) Verdict {
	switch phase := text(live, ".status.phase"); phase {
	case "Bound":
		return Verdict{Status: addons.HealthHealthy}
	case "Lost":
		return Verdict{addons.HealthDegraded, "its volume " + text(live, ".spec.volumeName") + " is lost"}
	default:
		return Verdict{addons.HealthProgressing, "is not bound to a volume yet"}
	}
}

func service(live *unstructured.Unstructured) (Verdict, bool) {
	addresses, _, _ := unstructured.NestedFieldNoCopy(live.Object, "status", "loadBalancer", "ingress")
	if list, _ := addresses.([]any); text(live, ".spec.type") != "LoadBalancer" || len(list) > 0 {
		return Verdict{}, false
	}
	return Verdict{addons.HealthProgressing, "its load balancer has no address yet"}, true
}

func apiService(live *unstructured.Unstructured) Verdict {
	c, ok := conditionOf(live, "Available")
	switch {
	case !ok:
		return Verdict{addons.HealthProgressing, "was not looked at yet"}
	case c.status == "True":
		return Verdict{Status: addons.HealthHealthy}
	default:
		return Verdict{addons.HealthDegraded, joined("is not available", c.words())}
	}
}

func number(live *unstructured.Unstructured, path string, otherwise int) int {
	return status.GetIntField(live.Object, path, otherwise)
}

func text(live *unstructured.Unstructured, path string) string {
	return status.GetStringField(live.Object, path, "")
}
