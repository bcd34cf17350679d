package charts

import (
	"net/url"

	"example.com/fairlead/activities/fetch"
)

const schemeOCI = "oci"

// parseURL refuses what would put a secret into errors and logs. Its errors quote
// nothing: what cannot be parsed may have a password anywhere.
func parseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fetch.Permanent("it is no URL")
	}
	if err := checkURL(u); err != nil {
		return nil, err
	}
	return u, nil
}

func checkURL(u *url.URL) error {
	switch {
	case u.User != nil:
		return fetch.Permanent("the URL of %s has a user name or password in it: put them into the Secret of credentialsSecretRef", u.Host)
	case u.Scheme != fetch.SchemeHTTP && u.Scheme != fetch.SchemeHTTPS && u.Scheme != schemeOCI:
		return fetch.Permanent("the URL does not begin with https://, http:// or oci://")
	case u.Hostname() == "":
		return fetch.Permanent("the URL has no host")
	}
	return nil
}
