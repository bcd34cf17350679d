package folder

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/kyaml/kio"
)

// maxValues bounds what kustomize makes of the aliases of all files of a build.
const maxValues = 500_000

// measure is an error if the aliases of a file stand for too much. kustomize replaces
// them by copies without a bound, and without an end if one contains itself.
func (d *disk) measure(data []byte) error {
	if !bytes.ContainsRune(data, '&') || !bytes.ContainsRune(data, '*') {
		return nil
	}
	// The reader of kustomize, so that it is what kustomize reads.
	nodes, err := (&kio.ByteReader{Reader: bytes.NewReader(data), OmitReaderAnnotations: true}).Read()
	if err != nil {
		return nil //nolint:nilerr // it is no YAML, and kustomize will say so if it should be
	}
	sizes := map[*yaml.Node]int{}
	for _, node := range nodes {
		if d.values += sizeOf(node.YNode(), sizes); d.values > maxValues {
			return fmt.Errorf("its aliases stand for more than %d values", maxValues)
		}
	}
	return nil
}

// sizeOf counts the values of node, those of an alias each time. It is too large for one
// that contains itself.
func sizeOf(node *yaml.Node, sizes map[*yaml.Node]int) int {
	if size, known := sizes[node]; known {
		return size
	}
	sizes[node] = maxValues + 1
	size := 1
	if node.Kind == yaml.AliasNode {
		size = sizeOf(node.Alias, sizes)
	}
	for _, child := range node.Content {
		size = min(size+sizeOf(child, sizes), maxValues+1)
	}
	sizes[node] = size
	return size
}
