package server

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// maxLabel is the longest part of a name in DNS.
const maxLabel = 63

// targetOf is the target of a body in its one spelling, empty if the body names none.
func targetOf(text string) (string, error) {
	host, err := hostOf(text)
	if err != nil {
		return "", badRequest("invalid_body", "target %v", err)
	}
	return host, nil
}

// hostOf is the one spelling of a host, by which cooldowns and budgets are found: a name in
// lower case and punycode, or an address, without port. No text is no host.
func hostOf(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	if len(text) > maxName {
		return "", fmt.Errorf("is longer than %d bytes", maxName)
	}
	name, address, ok := splitPort(text)
	if ok && address.IsValid() {
		return address.Unmap().String(), nil
	}
	if ok {
		name, ok = asciiName(name)
	}
	if !ok {
		return "", fmt.Errorf("%q is no host: give the name or address alone, such as shop.example or [2001:db8::1], without scheme and path; "+
			"a name that is not ASCII in punycode", text)
	}
	return name, nil
}

// splitPort cuts the port off, and tells addresses from names.
func splitPort(text string) (name string, address netip.Addr, ok bool) {
	if inner, bracketed := strings.CutPrefix(text, "["); bracketed {
		inner, port, closed := strings.Cut(inner, "]")
		address, ok = parseAddress(inner)
		return "", address, ok && closed && address.Is6() && (port == "" || isPort(port))
	}
	if address, ok = parseAddress(text); ok { // of IPv6, which has no port without brackets
		return "", address, true
	}
	name = text
	if before, _, found := strings.Cut(text, ":"); found {
		if name = before; !isPort(text[len(before):]) {
			return "", address, false
		}
	}
	if address, ok = parseAddress(strings.TrimSuffix(name, ".")); ok {
		return "", address, true
	}
	return name, netip.Addr{}, true
}

// parseAddress knows no zones: they mean something on one machine only.
func parseAddress(text string) (netip.Addr, bool) {
	address, err := netip.ParseAddr(text)
	return address, err == nil && address.Zone() == ""
}

func isPort(text string) bool {
	number, found := strings.CutPrefix(text, ":")
	_, err := strconv.ParseUint(number, 10, 16)
	return found && err == nil
}

// asciiName is the name as DNS has it. Underscores and hyphens anywhere are against the rules
// of host names, but there are such hosts.
func asciiName(name string) (string, bool) {
	if !utf8.ValidString(name) {
		return "", false
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r > '~' }) {
		ascii, err := idna.Lookup.ToASCII(name)
		if err != nil {
			return "", false
		}
		name = ascii
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if label == "" || len(label) > maxLabel || strings.ContainsFunc(label, notInLabels) {
			return "", false
		}
	}
	// What ends in a number is an address, and a broken one.
	_, err := strconv.ParseUint(labels[len(labels)-1], 10, 64)
	return name, len(name) <= maxName && err != nil
}

func notInLabels(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
}
