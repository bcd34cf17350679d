// Package text shortens text to a number of bytes, and never leaves a part of a character.
package text

import "strings"

// gap stands where Middle left something out.
const gap = " … "

// Head is the first most bytes of s with note behind them, or s if it has no more.
func Head(s string, most int, note string) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + note
}

// Middle is s with its middle left out, at most as many bytes in all, or s if it has no more.
func Middle(s string, most int) string {
	if len(s) <= most {
		return s
	}
	half := (most - len(gap)) / 2
	if half <= 0 {
		return Head(s, most, "")
	}
	return strings.ToValidUTF8(s[:half], "") + gap + strings.ToValidUTF8(s[len(s)-half:], "")
}
