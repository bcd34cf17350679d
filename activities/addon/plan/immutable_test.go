package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/addon/plan"
)

const (
	job = `
apiVersion: batch/v1
kind: Job
metadata: {name: once, namespace: NS}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: a, image: "job:1"}]
`
	statefulSet = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: NS}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: db, image: "db:1"}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec:
      accessModes: [ReadWriteOnce]
      resources: {requests: {storage: 1Gi}}
`
	claim = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: NS}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: slow
  resources: {requests: {storage: 1Gi}}
`
	storageClass = `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: NS}
provisioner: example.com/disks
parameters: {type: slow}
`
	binding = `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: bound, namespace: NS}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: one, namespace: NS}]
`
	pod = `
apiVersion: v1
kind: Pod
metadata: {name: bare, namespace: NS}
spec:
  containers: [{name: a, image: "a:1", command: [run]}]
`
	serviceAccount = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: default, namespace: NS}
`
	service = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: NS}
spec: {clusterIP: None, ports: [{port: 80}], selector: {app: web}}
`
	secret = `
apiVersion: v1
kind: Secret
metadata: {name: password, namespace: NS}
stringData: {password: first-canary}
`
)

func TestReplace(t *testing.T) {
	tests := map[string]struct {
		text, from, to string
		fields         []string
		diff           string
		blocked        string
	}{
		"the template of a Job": {
			text: job, from: "job:1", to: "job:2", fields: []string{"spec.template"}, diff: "+      - image: job:2",
		},
		"the claims of a StatefulSet": {
			text: statefulSet, from: "storage: 1Gi", to: "storage: 2Gi", fields: []string{"spec.volumeClaimTemplates"}, diff: "+          storage: 2Gi",
		},
		"the selector of a StatefulSet": {
			text: statefulSet, from: "app: db", to: "app: other", fields: []string{"spec.selector"}, diff: "+      app: other",
		},
		"the selector of a Deployment": {
			text: deployment, from: "app: web", to: "app: other", fields: []string{"spec.selector"}, diff: "+      app: other",
		},
		"the address of a Service": {
			text: service, from: "clusterIP: None", to: "clusterIP: 10.96.0.77", fields: []string{"spec.clusterIPs[0]"}, diff: "+  clusterIP: 10.96.0.77",
		},
		"the class of a PersistentVolumeClaim, which is never done": {
			text: claim, from: "slow", to: "fast", fields: []string{"spec"}, diff: "+  storageClassName: fast", blocked: "never deleted",
		},
		"the parameters of a StorageClass": {
			text: storageClass, from: "slow", to: "fast", fields: []string{"parameters"}, diff: "+  type: fast",
		},
		"the provisioner of a StorageClass": {
			text: storageClass, from: "example.com/disks", to: "example.com/others", fields: []string{"provisioner"}, diff: "+provisioner: example.com/others",
		},
		"the data of a ConfigMap that is immutable": {
			text: configMap + "immutable: true\n", from: "blue", to: "red", fields: []string{"data"}, diff: "+  color: red",
		},
		"the data of a Secret that is immutable": {
			text: secret + "immutable: true\n", from: "first", to: "second", fields: []string{"data"}, diff: "+  password: <changed, new>",
		},
		"the type of a Secret": {
			text: secret + "type: Opaque\n", from: "Opaque", to: "example.com/own", fields: []string{"type"}, diff: "+type: example.com/own",
		},
		"the role of a RoleBinding": {
			text: binding, from: "view", to: "edit", fields: []string{"roleRef"}, diff: "+  name: edit",
		},
		"the command of a Pod": {
			text: pod, from: "[run]", to: "[walk]", fields: []string{"spec"}, diff: "+    - walk",
		},
		"a field of a custom resource whose rule says so": {
			text: named("rigid", widget), from: "round", to: "square", fields: []string{"spec.shape"}, diff: "+  shape: square",
		},
	}
	shared := newCluster(t)
	shared.established(named("rigid", widgets))
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.apply(c.rendered(serviceAccount))
			c.apply(c.rendered(test.text))
			if !strings.Contains(test.text, test.from) {
				t.Fatalf("%q is not rendered", test.from)
			}
			r := c.rendered(strings.ReplaceAll(test.text, test.from, test.to))
			r.ReplaceAllowed = true
			i := c.only(r)
			if i.Action != plan.Replace || !strings.Contains(i.Diff, test.diff) || (i.Blocked == "") != (test.blocked == "") || !strings.Contains(i.Blocked, test.blocked) {
				t.Errorf("it is planned as %+v\nwant a replacement with %q, blocked %q", i, test.diff, test.blocked)
			}
			if diff := cmp.Diff(test.fields, i.Immutable); diff != "" {
				t.Errorf("the fields differ (-want +got):\n%s", diff)
			}
			r.ReplaceAllowed = false
			if i := c.only(r); i.Action != plan.Replace || i.Blocked == "" {
				t.Errorf("where nothing may be replaced, it is planned as %+v", i)
			}
		})
	}
}

func TestInvalidIsNoReplacement(t *testing.T) {
	c := newCluster(t)
	c.apply(c.rendered(deployment))
	wrong := strings.NewReplacer("app: web", "app: other", "replicas: 2", "replicas: -2").Replace(deployment)
	_, err := c.Plan(t.Context(), c.rendered(wrong))
	wantErrors(t, err, map[string]string{"web": "spec.replicas"})
}
