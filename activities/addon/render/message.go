package render

// maxMessage is how long the text of an error may be: of a template that includes itself, it
// names a thousand.
const maxMessage = 4096

// shortened is an error of which the middle is left out: what failed is at its start, and why
// at its end.
type shortened struct{ error }

func shorten(err error) error {
	if err == nil || len(err.Error()) <= maxMessage {
		return err
	}
	return shortened{err}
}

func (s shortened) Error() string {
	text := []rune(s.error.Error())
	half := maxMessage / 2
	if len(text) <= 2*half {
		return string(text)
	}
	return string(text[:half]) + " … " + string(text[len(text)-half:])
}

func (s shortened) Unwrap() error { return s.error }
