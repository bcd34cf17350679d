// Package deploy holds what Fairlead installs in a cluster, as files.
package deploy

import "embed"

// Files has the definitions of kinds in crds, and roles in rbac.
//
//go:embed crds/*.yaml rbac/*.yaml
var Files embed.FS
