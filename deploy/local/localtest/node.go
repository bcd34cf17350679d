package localtest

// Cluster is a running one-node cluster.
type Cluster struct{}
