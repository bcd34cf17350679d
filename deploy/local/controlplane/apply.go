package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldOwner is who server-side apply says wrote the objects.
const fieldOwner = "fairlead-local"

const establishTimeout = time.Minute

var crdKind = schema.GroupKind{Group: apiextensionsv1.GroupName, Kind: "CustomResourceDefinition"}

// Apply writes the objects of the YAML files that match a pattern with
// server-side apply, CustomResourceDefinitions first, and waits until the kinds
// they define are served.
func Apply(ctx context.Context, config *rest.Config, files fs.FS, patterns ...string) error {
	objects, err := readObjects(files, patterns)
	if err != nil {
		return err
	}
	c, err := client.New(config, client.Options{})
	if err != nil {
		return fmt.Errorf("connect to the Kubernetes API: %w", err)
	}
	var crds, others []*unstructured.Unstructured
	for _, o := range objects {
		if o.GroupVersionKind().GroupKind() == crdKind {
			crds = append(crds, o)
		} else {
			others = append(others, o)
		}
	}
	if err := applyAll(ctx, c, crds); err != nil {
		return err
	}
	for _, crd := range crds {
		if err := waitServed(ctx, c, crd); err != nil {
			return err
		}
	}
	return applyAll(ctx, c, others)
}

func readObjects(files fs.FS, patterns []string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, pattern := range patterns {
		names, err := fs.Glob(files, pattern)
		if err != nil {
			return nil, fmt.Errorf("list files %s: %w", pattern, err)
		}
		for _, name := range names {
			data, err := fs.ReadFile(files, name)
			if err != nil {
				return nil, fmt.Errorf("read objects: %w", err)
			}
			found, err := decode(data)
			if err != nil {
				return nil, fmt.Errorf("read objects of %s: %w", name, err)
			}
			objects = append(objects, found...)
		}
	}
	return objects, nil
}

func decode(data []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	reader := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		o := &unstructured.Unstructured{}
		err := reader.Decode(&o.Object)
		switch {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, fmt.Errorf("decode document %d: %w", len(objects)+1, err)
		case len(o.Object) > 0: // a document of comments only is none
			objects = append(objects, o)
		}
	}
}

func applyAll(ctx context.Context, c client.Client, objects []*unstructured.Unstructured) error {
	for _, o := range objects {
		err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner(fieldOwner), client.ForceOwnership)
		if err != nil {
			return fmt.Errorf("apply %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

// waitServed waits until a definition is established and its kind can be listed;
// the second comes a moment after the first.
func waitServed(ctx context.Context, c client.Client, applied *unstructured.Unstructured) error {
	ctx, cancel := context.WithTimeout(ctx, establishTimeout)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := checkServed(ctx, c, applied)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for CustomResourceDefinition %s to be served: %w (last answer: %w)", applied.GetName(), ctx.Err(), err)
		case <-tick.C:
		}
	}
}

func checkServed(ctx context.Context, c client.Client, applied *unstructured.Unstructured) error {
	live := applied.DeepCopy()
	if err := c.Get(ctx, client.ObjectKeyFromObject(applied), live); err != nil {
		return fmt.Errorf("read it: %w", err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, &crd); err != nil {
		return fmt.Errorf("decode it: %w", err)
	}
	for _, condition := range crd.Status.Conditions {
		if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
			return list(ctx, c, crd)
		}
	}
	return errors.New("it is not established yet")
}

func list(ctx context.Context, c client.Client, crd apiextensionsv1.CustomResourceDefinition) error {
	for _, version := range crd.Spec.Versions {
		if !version.Served {
			continue
		}
		var items unstructured.UnstructuredList
		items.SetGroupVersionKind(schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.ListKind})
		if err := c.List(ctx, &items, client.Limit(1)); err != nil {
			return fmt.Errorf("list %s: %w", crd.Spec.Names.Plural, err)
		}
	}
	return nil
}
