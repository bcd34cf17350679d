package provider

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

var nameEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// NamePrefix begins the name of every instance.
const NamePrefix = "proxy-"

// InstanceName is the name of every instance of the object with this UID: legal
// as a pod, a virtual machine and a DNS label, with 80 bits against collisions.
func InstanceName(uid string) string {
	sum := sha256.Sum256([]byte(uid))
	return NamePrefix + strings.ToLower(nameEncoding.EncodeToString(sum[:])[:16])
}
