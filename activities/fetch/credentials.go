// Package fetch has what all that fetches from servers shares: who may see credentials,
// which errors a retry helps against, and how downloads are bounded, shared and kept.
package fetch

import (
	"encoding/base64"
	"net/url"
	"strings"
)

// Credentials of a server: of a user, or a token, which is used instead of a password.
type Credentials struct {
	Username string
	Password string // #nosec G117 -- it is for the server
	Token    string // #nosec G117 -- it is for the server
}

// String keeps secrets out of what is printed.
func (c Credentials) String() string { return "credentials" }

// GoString keeps secrets out of what is printed by %#v.
func (c Credentials) GoString() string { return "fetch.Credentials{…}" }

// OrNone is empty if there are none.
func (c *Credentials) OrNone() Credentials {
	if c == nil {
		return Credentials{}
	}
	return *c
}

// Check says whether credentials may be sent to u: over TLS, or within this machine.
func (c *Credentials) Check(u *url.URL) error {
	switch {
	case c == nil || *c == Credentials{}:
		return nil
	case strings.ContainsAny(c.Username+c.Password+c.Token, "\r\n"):
		return Permanent("the credentials have a line break: take it out of the Secret of credentialsSecretRef")
	case strings.EqualFold(u.Scheme, SchemeHTTP) && !IsLoopback(u.Hostname()):
		return Permanent("credentials are sent over https only: make the URL of %s begin with https://, or take credentialsSecretRef away", u.Host)
	}
	return nil
}

// Header is what an HTTP server gets; empty without credentials.
func (c Credentials) Header() string {
	switch {
	case c.Token != "":
		return "Bearer " + c.Token
	case c.Username != "" || c.Password != "":
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(c.Username+":"+c.Password))
	}
	return ""
}
