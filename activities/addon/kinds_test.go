package addon_test

import "strings"

// definition of a kind that only this test has.
func (w *world) definition(kind string) string {
	plural := strings.ToLower(kind) + "s"
	return `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ` + plural + `.NS.test}
spec:
  group: NS.test
  scope: Namespaced
  names: {kind: ` + kind + `, plural: ` + plural + `}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`
}

func (w *world) gadget(kind, name string, more ...string) string {
	return `
apiVersion: NS.test/v1
kind: ` + kind + `
metadata: {name: ` + name + `, namespace: NS` + strings.Join(more, "") + `}
spec: {size: 1}
`
}
