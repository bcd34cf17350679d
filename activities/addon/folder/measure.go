package folder

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/kyaml/kio"
)

const (
	// maxCopies bounds what kustomize makes of the aliases of all files of a build.
	maxCopies = 200_000
	// tooLarge is more than a file that may be read has values.
	tooLarge = 2 * (maxBytes + maxCopies)
)

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
		d.copies += sizeOf(node.YNode(), sizes) - written(node.YNode())
		if d.copies > maxCopies {
			return fmt.Errorf("its aliases stand for more than %d values", maxCopies)
		}
	}
	return nil
}

// sizeOf counts the values of node, those of an alias each time. It is tooLarge for one
// that contains itself.
func sizeOf(node *yaml.Node, sizes map[*yaml.Node]int) int {
	if size, known := sizes[node]; known {
		return size
	}
	sizes[node] = tooLarge
	size := 1
	if node.Kind == yaml.AliasNode {
		size = sizeOf(node.Alias, sizes)
	}
	for _, child := range node.Content {
		size = min(size+sizeOf(child, sizes), tooLarge)
	}
	sizes[node] = size
	return size
}

// written counts the values of node, an alias for one.
func written(node *yaml.Node) int {
	count := 1
	for _, child := range node.Content {
		count += written(child)
	}
	return count
}
