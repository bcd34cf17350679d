package kubernetes

import (
	_ "embed" // for the configuration's template
	"errors"
	"fmt"
	"strings"
	"text/template"

	"golang.org/x/crypto/bcrypt"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/api/crawl/secrets"
)

//go:embed squid.conf.tmpl
var squidConfText string

var squidConfTemplate = template.Must(template.New("squid.conf").Parse(squidConfText))

// squidConf renders the configuration of an instance. It holds nothing secret.
func squidConf(name string, port int32, auth bool) (string, error) {
	var text strings.Builder
	err := squidConfTemplate.Execute(&text, struct {
		Name      string
		Port      int32
		UsersFile string // empty asks for no credentials
	}{name, port, usersFileIf(auth)})
	if err != nil {
		return "", fmt.Errorf("render squid.conf of instance %s: %w", name, err)
	}
	return text.String(), nil
}

func usersFileIf(auth bool) string {
	if auth {
		return usersDir + "/" + usersKey
	}
	return ""
}

// usersLine is the password file for Squid's basic_ncsa_auth, which checks bcrypt
// through the system's crypt.
func usersLine(c *secrets.Credentials) (string, error) {
	hash, err := bcrypt.GenerateFromPassword([]byte(c.Password), bcrypt.DefaultCost)
	if errors.Is(err, bcrypt.ErrPasswordTooLong) {
		return "", fmt.Errorf("hash the proxy's password: %w: %w", err, provider.ErrPermanent)
	}
	if err != nil {
		return "", fmt.Errorf("hash the proxy's password: %w", err)
	}
	return c.Username + ":" + string(hash) + "\n", nil
}
