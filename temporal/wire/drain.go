package wire

// DrainInput is the input of ActivityDrained.
type DrainInput struct {
	Proxy ProxyRef `json:"proxy"`
	// Incarnation of the instance whose leases are waited for.
	Incarnation int64 `json:"incarnation"`
}
