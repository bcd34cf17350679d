package main

import (
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/api/lease/bolt"
	"example.com/fairlead/api/lease/postgres"
)

const (
	flagLeases         = "leases"
	flagLeasesPostgres = "leases-postgres"
	flagAdvertiseURL   = "advertise-url"
)

// leaseSettings say where leases are kept.
type leaseSettings struct {
	// file is of one process alone.
	file string
	// postgresFile holds the connection string of a database that replicas share; each of
	// them is reached by the others at its advertiseURL.
	postgresFile, advertiseURL string
	// fileGiven says whether file is somebody's wish, and not the default; nil if nobody can
	// have one.
	fileGiven func() bool
}

func (s *leaseSettings) addFlags(f *pflag.FlagSet) {
	s.fileGiven = func() bool { return f.Changed(flagLeases) }
	f.StringVar(&s.file, flagLeases, "fairlead-leases.db", "`file` that keeps leases, sessions and cooldowns, of one replica")
	f.StringVar(&s.postgresFile, flagLeasesPostgres, "", "`file` with the connection string of a PostgreSQL database that keeps them instead, for several replicas")
	f.StringVar(&s.advertiseURL, flagAdvertiseURL, "", "`URL` at which the other replicas reach this one, with --"+flagLeasesPostgres)
}

func (s *leaseSettings) check() error {
	if s.postgresFile == "" {
		if s.advertiseURL != "" {
			return fmt.Errorf("--%s is for several replicas: give --%s too", flagAdvertiseURL, flagLeasesPostgres)
		}
		if s.file == "" {
			return fmt.Errorf("--%s is empty: name a file, which need not exist", flagLeases)
		}
		return nil
	}
	if s.fileGiven != nil && s.fileGiven() {
		return fmt.Errorf("--%s and --%s are both given: leases are kept in one place, so leave one out", flagLeases, flagLeasesPostgres)
	}
	return checkAdvertised(s.advertiseURL)
}

// checkAdvertised refuses what the other replicas cannot reach this one at.
func checkAdvertised(text string) error {
	const give = "give the http URL at which the other replicas reach this one, such as http://10.0.0.7:8090"
	if strings.Contains(text, "@") { // not quoted: it may be a password
		return fmt.Errorf("--%s has an @: leave user and password out, and %s", flagAdvertiseURL, give)
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("--%s is %q, which is no http URL: %s", flagAdvertiseURL, text, give)
	}
	ip, _ := netip.ParseAddr(u.Hostname())
	switch {
	case u.Hostname() == "":
		return fmt.Errorf("--%s is %q, which has no host: %s", flagAdvertiseURL, text, give)
	case ip.Unmap().IsUnspecified():
		return fmt.Errorf("--%s is %q, which is an address to listen on and none to reach: %s", flagAdvertiseURL, text, give)
	case !goodPort(u):
		return fmt.Errorf("--%s is %q, whose port is not between 1 and 65535: %s", flagAdvertiseURL, text, give)
	case strings.ContainsAny(text, "?#"):
		return fmt.Errorf("--%s is %q: leave the query and the fragment out, and %s", flagAdvertiseURL, text, give)
	}
	return nil
}

// goodPort says whether u has a port that there is, or none and no colon for it.
func goodPort(u *url.URL) bool {
	if u.Port() == "" {
		return !strings.HasSuffix(u.Host, ":")
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	return err == nil && n > 0
}

// place is where the leases are kept.
func (s *leaseSettings) place(log *slog.Logger) (lease.Place, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.postgresFile == "" {
		return bolt.New(s.file, log), nil
	}
	dsn, err := os.ReadFile(s.postgresFile)
	if err != nil {
		return nil, fmt.Errorf("read the connection string (--%s): %w", flagLeasesPostgres, err)
	}
	place, err := postgres.New(postgres.Options{DSN: strings.TrimSpace(string(dsn)), URL: strings.TrimSuffix(s.advertiseURL, "/")})
	if err != nil {
		return nil, fmt.Errorf("--%s %s: %w", flagLeasesPostgres, s.postgresFile, err)
	}
	return place, nil
}
