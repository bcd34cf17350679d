package provider

import (
	"errors"
	"strings"
	"testing"

	"example.com/fairlead/api/crawl/secrets"
)

func TestCheckCredentials(t *testing.T) {
	for name, test := range map[string]struct {
		cred *secrets.Credentials
		says string
	}{
		"none are fine":                   {nil, ""},
		"a user name and a password":      {&secrets.Credentials{Username: "crawler", Password: "p w%41:é"}, ""},
		"no user name":                    {&secrets.Credentials{Password: "canary"}, "user name is empty"},
		"no password":                     {&secrets.Credentials{Username: "crawler"}, "password is empty"},
		"a colon in the user name":        {&secrets.Credentials{Username: "a:b", Password: "canary"}, "colon"},
		"a line break in the password":    {&secrets.Credentials{Username: "a", Password: "canary\n"}, "line break"},
		"a password bcrypt would shorten": {&secrets.Credentials{Username: "a", Password: strings.Repeat("canary", 13)}, "72 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			err := CheckCredentials(test.cred)
			switch {
			case test.says == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.says != "" && (!errors.Is(err, ErrPermanent) || !strings.Contains(err.Error(), test.says)):
				t.Errorf("the error is %v, want a permanent one that says %q", err, test.says)
			case err != nil && strings.Contains(err.Error(), "canary"):
				t.Errorf("the error tells the password: %v", err)
			}
		})
	}
}
