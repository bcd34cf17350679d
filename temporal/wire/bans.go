package wire

import "time"

// BansPrefix begins the value of the replace annotation when the address was banned.
const BansPrefix = "bans/"

// BanLimit is how many banned reports, together within Window, ask for another address.
type BanLimit struct {
	Count  int           `json:"count"`
	Window time.Duration `json:"window"`
}

// BansInput is the input of ActivityBans.
type BansInput struct {
	Proxy ProxyRef `json:"proxy"`
	// Address whose bans are counted.
	Address Endpoint `json:"address"`
}

// Bans is the result of ActivityBans.
type Bans struct {
	// Count of banned reports of the address within the window of the Proxy's limit.
	Count int `json:"count"`
}
