package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"example.com/fairlead/api/client"
)

// Explain says what is to be done about err.
func (c *Connection) Explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing listens at %s: is `fairlead dev` or `fairlead api` running? --%s names another place: %w", c.URL, flagURL, err)
	case errors.Is(err, client.ErrUnauthorized) && c.TokenFile == "":
		return fmt.Errorf("%s asks for a token: --%s names a file with one; `fairlead dev` keeps it in %s: %w", c.URL, flagTokenFile, devTokenFile, err)
	case errors.Is(err, client.ErrUnauthorized):
		return fmt.Errorf("%s does not know the token in %s: --%s names another file: %w", c.URL, c.TokenFile, flagTokenFile, err)
	case errors.Is(err, client.ErrForbidden):
		return fmt.Errorf("the token in %s may not do this: --%s names another file: %w", c.TokenFile, flagTokenFile, err)
	case errors.Is(err, fs.ErrNotExist) && c.TokenFile != "":
		return fmt.Errorf("%w: --%s names the file", err, flagTokenFile)
	}
	return err
}
