package fetch

import (
	"errors"
	"net"
	"net/url"
	"strings"
)

// Schemes of URLs.
const (
	SchemeHTTP  = "http"
	SchemeHTTPS = "https"
)

// Origin is who may see a credential.
type Origin struct{ Scheme, Host, Port string }

// OriginOf is the origin of a URL.
func OriginOf(u *url.URL) Origin {
	o := Origin{Scheme: strings.ToLower(u.Scheme), Host: strings.ToLower(u.Hostname()), Port: u.Port()}
	if o.Port == "" {
		o.Port = map[string]string{SchemeHTTP: "80", SchemeHTTPS: "443"}[o.Scheme]
	}
	return o
}

// IsLoopback is for names and addresses that never leave this machine.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Shown is a URL without what may be secret: signatures and tokens are in queries.
func Shown(u *url.URL) string {
	bare := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	if u.RawQuery != "" {
		return bare.String() + "?…"
	}
	return bare.String()
}

// Bare takes the URL away that net/http and net/url wrap around errors: it may have secrets.
func Bare(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
