// Package deploy holds what Fairlead installs in a cluster, as files.
package deploy

import "embed"

// Files has the definitions of kinds in crds, roles in rbac, and in examples objects
// to try.
//
//go:embed crds/*.yaml rbac/*.yaml examples/*.yaml
var Files embed.FS
