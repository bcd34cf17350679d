package render

import (
	"example.com/fairlead/activities/addon/mask"
	"example.com/fairlead/internal/text"
)

// maxMessage is how long the text of an error may be: of a template that includes itself, it
// names a thousand.
const maxMessage = 4096

// shown is err without secrets, and without its middle if it is long: what failed is at its
// start, and why at its end.
func shown(err error, secrets mask.Mask) error {
	return secrets.Error(err, func(s string) string { return text.Middle(s, maxMessage) })
}
