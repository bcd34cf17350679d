package leasecli

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"example.com/fairlead/api/client"
)

// environment is base with the way through the lease. Credentials are in it: it is the
// child's alone.
func (c *connection) environment(base []string, l *client.Lease) []string {
	proxy := l.Proxy().URL().String()
	set := map[string]string{
		"HTTP_PROXY": proxy, "http_proxy": proxy, "HTTPS_PROXY": proxy, "https_proxy": proxy,
		EnvLease: l.ID(), EnvURL: c.URL,
	}
	if strings.HasPrefix(l.Proxy().Scheme, "socks") {
		set["ALL_PROXY"], set["all_proxy"] = proxy, proxy
	}
	if path, err := filepath.Abs(c.TokenFile); err == nil && c.TokenFile != "" {
		set[EnvTokenFile] = path // the command may run elsewhere
	}
	env := slices.Clone(base)
	for _, name := range slices.Sorted(maps.Keys(set)) {
		env = append(env, name+"="+set[name]) // of two, the last one counts
	}
	return env
}

// fromTerminal says whether s came from the keys of the terminal, which sends it to the
// command too: passed on, it would count as pressed twice. One that somebody sends to this
// process alone cannot be told from it.
func fromTerminal(s os.Signal) bool {
	if s != syscall.SIGINT && s != syscall.SIGQUIT {
		return false
	}
	terminal, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer func() { _ = terminal.Close() }()
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
