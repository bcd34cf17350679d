package manifest

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// installOrder is Helm's releaseutil.InstallOrder without its List kinds, which Parse
// replaces. Helm goes by the kind alone, whatever its group.
var installOrder = []string{
	"PriorityClass",
	"Namespace",
	"NetworkPolicy",
	"ResourceQuota",
	"LimitRange",
	"PodSecurityPolicy",
	"PodDisruptionBudget",
	"ServiceAccount",
	"Secret",
	"ConfigMap",
	"StorageClass",
	"PersistentVolume",
	"PersistentVolumeClaim",
	"CustomResourceDefinition",
	"ClusterRole",
	"ClusterRoleBinding",
	"Role",
	"RoleBinding",
	"Service",
	"DaemonSet",
	"Pod",
	"ReplicationController",
	"ReplicaSet",
	"Deployment",
	"HorizontalPodAutoscaler",
	"StatefulSet",
	"Job",
	"CronJob",
	"IngressClass",
	"Ingress",
	"APIService",
}

// Stages are the objects in the order to install them: what is in one stage needs
// nothing of it. The first has the definitions and namespaces that all others may be
// of and in; then it is one kind after the other as Helm does it, those that Helm does
// not know last and by name. Objects of a kind keep their order.
func Stages(objects []Object) [][]Object {
	sorted := slices.Clone(objects)
	slices.SortStableFunc(sorted, func(a, b Object) int { return cmpStage(stageOf(a), stageOf(b)) })
	var stages [][]Object
	for i, o := range sorted {
		if i == 0 || stageOf(sorted[i-1]) != stageOf(o) {
			stages = append(stages, nil)
		}
		last := len(stages) - 1
		stages[last] = append(stages[last], o)
	}
	return stages
}

// UninstallStages are the objects in the order to delete them: the reverse of Stages,
// but all custom resources first, whatever their kind is called: what clears their
// finalizers is deleted after them. They are one stage, for those of one kind may wait
// for those of another, and nobody knows which.
func UninstallStages(objects []Object) [][]Object {
	defined := definedBy(objects)
	var custom, others []Object
	for _, o := range objects {
		if _, ok := defined[o.GroupVersionKind().GroupKind()]; ok || isForeign(o.GroupVersionKind().Group) {
			custom = append(custom, o)
		} else {
			others = append(others, o)
		}
	}
	first, then := Stages(custom), Stages(others)
	slices.Reverse(first)
	slices.Reverse(then)
	if len(first) > 0 {
		then = slices.Insert(then, 0, slices.Concat(first...))
	}
	return then
}

// isForeign says whether a group is none of the Kubernetes project, whose API server has
// the kinds of most of its groups built in.
func isForeign(group string) bool {
	return strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io")
}

// stage tells what is installed together. Its kind is empty in the first.
type stage struct {
	rank int
	kind string
}

func stageOf(o Object) stage {
	gk := o.GroupVersionKind().GroupKind()
	if IsDefinition(gk) || gk == (schema.GroupKind{Kind: "Namespace"}) {
		return stage{rank: -1}
	}
	if rank := slices.Index(installOrder, gk.Kind); rank >= 0 {
		return stage{rank, gk.Kind}
	}
	return stage{len(installOrder), gk.Kind}
}

func cmpStage(a, b stage) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.kind, b.kind))
}
