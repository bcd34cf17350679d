package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func TestLeaseFlagsSayWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	dsn, odd := filepath.Join(dir, "postgres"), filepath.Join(dir, "odd")
	for path, text := range map[string]string{dsn: "host=127.0.0.1 dbname=fairlead password=c4nary\n", odd: "postgres://%zz:c4nary@"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		settings leaseSettings
		says     string
	}{
		"a file":                          {leaseSettings{file: "leases.db"}, ""},
		"a database":                      {leaseSettings{postgresFile: dsn, advertiseURL: "http://10.0.0.7:8090/"}, ""},
		"nothing":                         {leaseSettings{}, "--leases is empty"},
		"an URL without others":           {leaseSettings{file: "leases.db", advertiseURL: "http://10.0.0.7:8090"}, "give --leases-postgres too"},
		"a database without URL":          {leaseSettings{postgresFile: dsn}, `--advertise-url is ""`},
		"an URL that is none":             {leaseSettings{postgresFile: dsn, advertiseURL: "10.0.0.7:8090"}, `--advertise-url is "10.0.0.7:8090"`},
		"an URL that nobody speaks":       {leaseSettings{postgresFile: dsn, advertiseURL: "tcp://10.0.0.7:8090"}, "--advertise-url"},
		"a file that is missing":          {leaseSettings{postgresFile: filepath.Join(dir, "none"), advertiseURL: "http://10.0.0.7:8090"}, "--leases-postgres"},
		"a connection string that is odd": {leaseSettings{postgresFile: odd, advertiseURL: "http://10.0.0.7:8090"}, "--leases-postgres " + odd},
	} {
		t.Run(name, func(t *testing.T) {
			place, err := tt.settings.place(slog.New(slog.DiscardHandler))
			switch {
			case tt.says == "" && (err != nil || place == nil):
				t.Errorf("%v", err)
			case tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)):
				t.Errorf("got %v, want an error with %q", err, tt.says)
			case err != nil && strings.Contains(err.Error(), "c4nary"):
				t.Errorf("the error tells a password: %v", err)
			}
		})
	}
}

func TestTheAdvertisedURLCanBeReached(t *testing.T) {
	for text, says := range map[string]string{
		"http://10.0.0.7:8090":        "",
		"https://api-0.fairlead/base": "",
		"http://[2001:db8::7]:8090/":  "",
		"http://10.0.0.7:99999":       "port",
		"http://10.0.0.7:0":           "port",
		"http://10.0.0.7:":            "port",
		"http://:8090":                "no host",
		"http://":                     "no host",
		"http://0.0.0.0:8090":         "to listen on",
		"http://[::]:8090":            "to listen on",
		"http://[::ffff:0.0.0.0]":     "to listen on",
		"http://u:c4nary@10.0.0.7":    "leave user and password out",
		"http://u:c4nary@10.0.0.7:x":  "leave user and password out",
		"http://10.0.0.7:8090?a=b":    "query",
		"http://10.0.0.7:8090/?":      "query",
		"http://10.0.0.7:8090#a":      "fragment",
		"tcp://10.0.0.7:8090":         "no http URL",
	} {
		t.Run(text, func(t *testing.T) {
			err := (&leaseSettings{postgresFile: "dsn", advertiseURL: text}).check()
			switch {
			case says == "" && err != nil:
				t.Error(err)
			case says != "" && (err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "--advertise-url")):
				t.Errorf("got %v, want an error with %q", err, says)
			case err != nil && strings.Contains(err.Error(), "c4nary"):
				t.Errorf("the error tells a password: %v", err)
			}
		})
	}
}

func TestLeasesAreKeptInOnePlace(t *testing.T) {
	const both = "--leases and --leases-postgres are both given"
	for name, tt := range map[string]struct {
		args []string
		says string
	}{
		"a database alone":             {[]string{"--leases-postgres", "dsn", "--advertise-url", "http://10.0.0.7:8090"}, ""},
		"a file beside it":             {[]string{"--leases", "x", "--leases-postgres", "dsn", "--advertise-url", "http://10.0.0.7:8090"}, both},
		"the default's name beside it": {[]string{"--leases", "fairlead-leases.db", "--leases-postgres", "dsn"}, both},
		"a file alone":                 {[]string{"--leases", "x"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var s leaseSettings
			f := pflag.NewFlagSet("api", pflag.ContinueOnError)
			s.addFlags(f)
			if err := f.Parse(tt.args); err != nil {
				t.Fatal(err)
			}
			if err := s.check(); (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want %q", err, tt.says)
			}
		})
	}
}

func TestLendingFlagsSayWhatIsWrong(t *testing.T) {
	for flag, spoil := range map[string]func(*apiSettings){
		"--cooldown":      func(s *apiSettings) { s.cooldown = 0 },
		"--session-idle":  func(s *apiSettings) { s.sessionIdle = -time.Second },
		"--max-lease-ttl": func(s *apiSettings) { s.maxLeaseTTL = time.Millisecond },
	} {
		s := defaultAPISettings()
		if err := s.check(); err != nil {
			t.Errorf("the defaults: %v", err)
		}
		spoil(&s)
		if err := s.check(); err == nil || !strings.Contains(err.Error(), flag+" is ") {
			t.Errorf("%s: %v", flag, err)
		}
	}
}
