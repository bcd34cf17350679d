// Package deploy holds what Fairlead installs in a cluster, as files.
package deploy

import "embed"

// Files has crds: the definitions of Fairlead's kinds.
//
//go:embed crds/*.yaml
var Files embed.FS
