// Package deploy holds what Fairlead installs in a cluster, as files.
package deploy

import "embed"

// Files has the definitions of Fairlead's kinds in crds, and in examples objects
// to try.
//
//go:embed crds/*.yaml examples/*.yaml
var Files embed.FS
