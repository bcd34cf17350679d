package main

import (
	"fmt"
	"log/slog"
	"net/url"
	"os"
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
	u, err := url.Parse(s.advertiseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("--%s is %q: give the http URL at which the other replicas reach this one, such as http://10.0.0.7:8090", flagAdvertiseURL, s.advertiseURL)
	}
	return nil
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
