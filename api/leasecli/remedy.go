package leasecli

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"example.com/fairlead/api/client"
)

// explain says what is to be done about err.
func (c *connection) explain(err error) error {
	var none *client.NoMatch
	var ended *Ended
	switch {
	case err == nil, errors.As(err, &ended):
		return err
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing listens at %s: is `fairlead dev` or `fairlead api` running? --%s names another place: %w", c.url, flagURL, err)
	case errors.Is(err, client.ErrUnauthorized) && c.tokenFile == "":
		return fmt.Errorf("%s asks for a token: --%s names a file with one; `fairlead dev` keeps it in %s: %w", c.url, flagTokenFile, devTokenFile, err)
	case errors.Is(err, client.ErrUnauthorized):
		return fmt.Errorf("%s does not know the token in %s: --%s names another file: %w", c.url, c.tokenFile, flagTokenFile, err)
	case errors.Is(err, client.ErrForbidden):
		return fmt.Errorf("the token in %s may only read: --%s names one of scope crawler or operator: %w", c.tokenFile, flagTokenFile, err)
	case errors.Is(err, fs.ErrNotExist) && c.tokenFile != "":
		return fmt.Errorf("%w: --%s names the file", err, flagTokenFile)
	case errors.As(err, &none) && none.Considered > 0:
		return fmt.Errorf("%w; --wait 30s waits for one, or longer", err)
	}
	return err
}
