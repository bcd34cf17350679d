package manifest

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ID tells an object from all others of a cluster, whatever version of its API is used.
type ID struct {
	schema.GroupKind

	Namespace, Name string
}

// storedID is an ID as JSON has it: schema.GroupKind has no names for that.
type storedID struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// IDOf is the ID of an object. Its name is empty if the API server is to make one.
func IDOf(o *unstructured.Unstructured) ID {
	return ID{GroupKind: o.GroupVersionKind().GroupKind(), Namespace: o.GetNamespace(), Name: o.GetName()}
}

// ID of the object.
func (o Object) ID() ID { return IDOf(o.Unstructured) }

// String is the ID for people, as Deployment.apps shop/web.
func (id ID) String() string {
	name := id.Name
	if id.Namespace != "" {
		name = id.Namespace + "/" + name
	}
	return id.GroupKind.String() + " " + name
}

// MarshalJSON writes group, kind, namespace and name.
func (id ID) MarshalJSON() ([]byte, error) {
	return json.Marshal(storedID{Group: id.Group, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (id *ID) UnmarshalJSON(data []byte) error {
	var stored storedID
	if err := json.Unmarshal(data, &stored); err != nil {
		return err
	}
	*id = ID{GroupKind: schema.GroupKind{Group: stored.Group, Kind: stored.Kind}, Namespace: stored.Namespace, Name: stored.Name}
	return nil
}

// IsDefinition says whether a kind is that of CustomResourceDefinitions.
func IsDefinition(gk schema.GroupKind) bool {
	return gk == schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
}
