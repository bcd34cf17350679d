package secrets

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"sigs.k8s.io/controller-runtime/pkg/client"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

// Credentials are a proxy's own user name and password.
type Credentials struct {
	Username string
	Password string
	// Version of the Secret that they were read from; it shapes nothing.
	Version string `json:"-"`
}

// maxPasswordBytes is where bcrypt, which guards the password files of proxies,
// stops reading.
const maxPasswordBytes = 72

// ForProxy returns the credentials that p asks its clients for, nil when it asks
// for none. Those that no HTTP proxy can ask for are ErrCredentials, as a Secret
// that cannot be read is.
func ForProxy(ctx context.Context, r client.Reader, p *crawl.Proxy) (*Credentials, error) {
	if p.Spec.AuthSecretRef == nil {
		return nil, nil
	}
	s, err := read(ctx, r, p.Namespace, p.Spec.AuthSecretRef.Name, ErrCredentials)
	if err != nil {
		return nil, err
	}
	user, err := key(s, crawl.SecretKeyUsername, ErrCredentials)
	if err != nil {
		return nil, err
	}
	password, err := key(s, crawl.SecretKeyPassword, ErrCredentials)
	if err != nil {
		return nil, err
	}
	c := &Credentials{Username: string(user), Password: string(password), Version: s.ResourceVersion}
	if problem := c.problem(); problem != "" {
		return nil, fmt.Errorf("%w: Secret %s/%s: %s: change it", ErrCredentials, s.Namespace, s.Name, problem)
	}
	return c, nil
}

// problem says why no HTTP proxy can ask for c, without telling what c is.
func (c *Credentials) problem() string {
	switch {
	case strings.Contains(c.Username, ":"):
		return "the user name contains a colon, which basic authentication cannot carry"
	case len(c.Password) > maxPasswordBytes:
		return fmt.Sprintf("the password is longer than %d bytes", maxPasswordBytes)
	case !utf8.ValidString(c.Username + c.Password):
		return "a user name or password that is not UTF-8 cannot be told to a leaseholder"
	case strings.ContainsFunc(c.Username+c.Password, unicode.IsControl):
		return "a user name or password with control characters (a line break at the end?) cannot be used"
	}
	return ""
}
