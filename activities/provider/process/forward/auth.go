package forward

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"os"
	"strings"
)

// credentials are what clients must present, as a digest: comparing digests takes
// the same time whatever is compared.
type credentials [sha256.Size]byte

// readCredentials reads "username:password"; the line may end with a line break.
func readCredentials(path string) (*credentials, error) {
	data, err := os.ReadFile(path) // #nosec G304 -- the file named on the command line
	if err != nil {
		return nil, fmt.Errorf("read credentials: %w", err)
	}
	line := strings.TrimSuffix(string(data), "\n")
	user, password, found := strings.Cut(line, ":")
	if !found || user == "" || password == "" || strings.Contains(line, "\n") {
		return nil, fmt.Errorf("credentials file %s must hold username:password in one line", path)
	}
	c := digest(user, password)
	return &c, nil
}

func digest(user, password string) credentials {
	return sha256.Sum256([]byte(user + ":" + password))
}

// allow says whether a request carries the credentials.
func (c *credentials) allow(r *http.Request) bool {
	// net/http parses Authorization only.
	probe := http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
	user, password, ok := probe.BasicAuth()
	given := digest(user, password)
	return subtle.ConstantTimeCompare(given[:], c[:]) == 1 && ok
}
