package provider

import (
	"fmt"
	"strings"
	"unicode"

	"example.com/fairlead/api/crawl/secrets"
)

// maxPasswordBytes is where bcrypt, which guards the password files of proxies,
// stops reading.
const maxPasswordBytes = 72

// CheckCredentials returns ErrPermanent for credentials that no HTTP proxy can ask
// for. It never says what they are.
func CheckCredentials(c *secrets.Credentials) error {
	if c == nil {
		return nil
	}
	problem := ""
	switch {
	case c.Username == "":
		problem = "the user name is empty"
	case strings.Contains(c.Username, ":"):
		problem = "the user name contains a colon, which basic authentication cannot carry"
	case c.Password == "":
		problem = "the password is empty"
	case len(c.Password) > maxPasswordBytes:
		problem = fmt.Sprintf("the password is longer than %d bytes", maxPasswordBytes)
	case strings.ContainsFunc(c.Username+c.Password, unicode.IsControl):
		problem = "a user name or password with control characters (a line break at the end?) cannot be used"
	default:
		return nil
	}
	return fmt.Errorf("credentials of the proxy: %s: change the Secret of authSecretRef: %w", problem, ErrPermanent)
}
