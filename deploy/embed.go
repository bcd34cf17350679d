// Package deploy holds what Fairlead installs in a cluster, and examples, as files.
package deploy

import "embed"

// Files has the definitions of kinds in crds, and roles in rbac.
//
//go:embed crds/*.yaml rbac/*.yaml
var Files embed.FS

// Examples has the Addon objects examples/addon-*.yaml, the charts in examples/charts, and
// the folders in examples/folder.
//
//go:embed examples/addon-*.yaml all:examples/charts examples/folder
var Examples embed.FS
