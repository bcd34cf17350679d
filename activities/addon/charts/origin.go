package charts

import (
	"encoding/base64"
	"errors"
	"net"
	"net/url"
	"strings"
)

const (
	schemeHTTP  = "http"
	schemeHTTPS = "https"
	schemeOCI   = "oci"
)

// origin is who may see a credential.
type origin struct{ scheme, host, port string }

func originOf(u *url.URL) origin {
	o := origin{scheme: strings.ToLower(u.Scheme), host: strings.ToLower(u.Hostname()), port: u.Port()}
	if o.port == "" {
		o.port = map[string]string{schemeHTTP: "80", schemeHTTPS: "443"}[o.scheme]
	}
	return o
}

// parseURL refuses what would put a secret into errors and logs. Its errors quote
// nothing: what cannot be parsed may have a password anywhere.
func parseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, permanent("it is no URL")
	}
	if err := checkURL(u); err != nil {
		return nil, err
	}
	return u, nil
}

func checkURL(u *url.URL) error {
	switch {
	case u.User != nil:
		return permanent("the URL of %s has a user name or password in it: put them into the Secret of credentialsSecretRef", u.Host)
	case u.Scheme != schemeHTTP && u.Scheme != schemeHTTPS && u.Scheme != schemeOCI:
		return permanent("the URL does not begin with https://, http:// or oci://")
	case u.Hostname() == "":
		return permanent("the URL has no host")
	}
	return nil
}

// shown is a URL without what may be secret: signatures and tokens are in queries.
func shown(u *url.URL) string {
	bare := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	if u.RawQuery != "" {
		return bare.String() + "?…"
	}
	return bare.String()
}

// isLoopback is for names and addresses that never leave this machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (c *Credentials) check() error {
	if c != nil && strings.ContainsAny(c.Username+c.Password+c.Token, "\r\n") {
		return permanent("the credentials have a line break: take it out of the Secret of credentialsSecretRef")
	}
	return nil
}

// header is what an HTTP server gets; empty without credentials.
func (c Credentials) header() string {
	switch {
	case c.Token != "":
		return "Bearer " + c.Token
	case c.Username != "" || c.Password != "":
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(c.Username+":"+c.Password))
	}
	return ""
}

// bare takes the URL away that net/http wraps around its errors: it may have secrets.
func bare(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
