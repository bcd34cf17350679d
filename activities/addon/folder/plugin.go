package folder

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"

	"example.com/fairlead/activities/addon/manifest"
)

// pluginEntry looks at an entry of generators, transformers or validators: the
// configuration of a plugin itself, or a file of them.
func (in inspector) pluginEntry(entry string) error {
	if strings.ContainsAny(entry, ":\n") {
		if err := in.local(entry); err != nil {
			return err
		}
		return in.pluginFile("the configuration in it", []byte(entry))
	}
	if path.IsAbs(entry) {
		return fmt.Errorf("%s: %w", entry, errOutside)
	}
	name := path.Join(in.dir, entry)
	at, info, err := in.disk.tree.resolve(name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return fmt.Errorf("%s is a folder, and what its kustomization makes cannot be looked at before it is run: name the files", entry)
	}
	data, err := in.disk.tree.file(at)
	if err != nil {
		return err
	}
	return in.pluginFile(entry, data)
}

func (in inspector) pluginFile(name string, data []byte) error {
	if err := in.disk.measure(data); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	documents, err := manifest.Values(name, data)
	if err != nil {
		return err
	}
	for _, document := range documents {
		if err := in.plugin(document); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// plugin is an error unless a configuration is of a plugin that is a part of kustomize,
// and of one that reads the repository only.
func (in inspector) plugin(value any) error {
	fields, ok := value.(map[string]any)
	if !ok {
		return errors.New("it has no configuration of a plugin")
	}
	if items, isList := fields["items"].([]any); isList {
		for _, item := range items {
			if err := in.plugin(item); err != nil {
				return err
			}
		}
		return nil
	}
	if fields["apiVersion"] != konfig.BuiltinPluginApiVersion {
		return fmt.Errorf("%v is a program or container, none is run for a build: only plugins with apiVersion %s are",
			fields["kind"], konfig.BuiltinPluginApiVersion)
	}
	if fields["kind"] == "HelmChartInflationGenerator" {
		return errChart
	}
	return in.paths(fields)
}
