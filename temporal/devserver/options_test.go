package main

import (
	"errors"
	"flag"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	enumspb "go.temporal.io/api/enums/v1"
)

func TestParse(t *testing.T) {
	tests := map[string]struct {
		args string
		want func(*options)
	}{
		"nothing": {want: func(*options) {}},
		"what the test suite of the SDK passes": {
			args: "server start-dev --ip 127.0.0.1 --port 34567 --namespace default " +
				"--dynamic-config-value frontend.enableServerVersionCheck=false " +
				"--log-level warn --log-format pretty --headless --search-attribute Phase=Keyword",
			want: func(o *options) {
				o.Port, o.UIPort, o.Headless, o.LogLevel = 34567, 35567, true, slog.LevelWarn
				o.SearchAttributes["Phase"] = enumspb.INDEXED_VALUE_TYPE_KEYWORD
			},
		},
		"localhost is the loopback address": {
			args: "--ip=localhost",
			want: func(*options) {},
		},
		"the Web UI follows the address and the port": {
			args: "--ip=127.0.0.7 --port=8000",
			want: func(o *options) { o.IP, o.UIIP, o.Port, o.UIPort = "127.0.0.7", "127.0.0.7", 8000, 9000 },
		},
		"the Web UI has an address of its own": {
			args: "--ui-ip=127.0.0.8 --ui-port=1234",
			want: func(o *options) { o.UIIP, o.UIPort = "127.0.0.8", 1234 },
		},
		"namespaces add up and are there once": {
			args: "--namespace=b --namespace=a --namespace=b --namespace=default",
			want: func(o *options) { o.Namespaces = []string{"default", "b", "a"} },
		},
		"search attributes of all spellings of a type": {
			args: "--search-attribute A=Bool --search-attribute B=INDEXED_VALUE_TYPE_DATETIME --search-attribute C=KeywordList",
			want: func(o *options) {
				o.SearchAttributes["A"] = enumspb.INDEXED_VALUE_TYPE_BOOL
				o.SearchAttributes["B"] = enumspb.INDEXED_VALUE_TYPE_DATETIME
				o.SearchAttributes["C"] = enumspb.INDEXED_VALUE_TYPE_KEYWORD_LIST
			},
		},
		"dynamic configuration is JSON and wins over the tuning": {
			args: `--dynamic-config-value history.timerProcessorMaxPollRPS=7 --dynamic-config-value x="y=z"`,
			want: func(o *options) {
				o.DynamicConfig["history.timerProcessorMaxPollRPS"] = 7.0
				o.DynamicConfig["x"] = "y=z"
			},
		},
		"a database file is tuned": {
			args: "--db-filename=t.db",
			want: func(o *options) {
				o.DBFilename = "t.db"
				o.Pragmas = map[string]string{"journal_mode": "WAL", "synchronous": "NORMAL"}
			},
		},
		"a pragma replaces its default only": {
			args: "--db-filename=t.db --sqlite-pragma synchronous=FULL --sqlite-pragma cache_size=-2000",
			want: func(o *options) {
				o.DBFilename = "t.db"
				o.Pragmas = map[string]string{"journal_mode": "WAL", "synchronous": "FULL", "cache_size": "-2000"}
			},
		},
		"logging nothing": {
			args: "--log-level=never --log-format=json",
			want: func(o *options) { o.LogLevel, o.LogJSON = never, true },
		},
		"files and times": {
			args: "--ready-file=r --retention=24h",
			want: func(o *options) { o.ReadyFile, o.Retention = "r", 24*time.Hour },
		},
		"a port of the Web UI that does not exist is no matter without one": {
			args: "--headless --port=65000",
			want: func(o *options) { o.Headless, o.Port, o.UIPort = true, 65000, 66000 },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			want := defaults()
			want.UIIP, want.UIPort = "127.0.0.1", 8233
			test.want(&want)
			got, err := parse(strings.Fields(test.args))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error("options (-want +got):\n", diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	tests := map[string]struct{ args, want string }{
		"an argument":                     {"up", `unexpected argument "up"`},
		"an unknown flag":                 {"--nope", "not defined: -nope"},
		"a host name":                     {"--ip=example.test", `--ip "example.test" is not an IP address`},
		"a port out of range":             {"--headless --port=65536", "--port 65536 is not between 1 and 65535"},
		"a UI port out of range":          {"--port=65000", "--ui-port 66000 is not between 1 and 65535"},
		"one port for two":                {"--port=8000 --ui-port=8000", "--ui-port must differ from --port"},
		"a search attribute without type": {"--search-attribute=A", "want Name=Type"},
		"a type that is none":             {"--search-attribute=A=Number", `type "Number" is none of Text, Keyword`},
		"the unspecified type":            {"--search-attribute=A=Unspecified", `type "Unspecified" is none of Text, Keyword`},
		"a value that is no JSON":         {"--dynamic-config-value=a=b", "value of a is not JSON (a string needs quotes)"},
		"a pragma without value":          {"--sqlite-pragma=foreign_keys", "want name=value"},
		"an unknown level":                {"--log-level=loud", "want debug, info, warn, error or never"},
		"an unknown format":               {"--log-format=xml", "want text or json"},
		"a namespace without name":        {"--namespace=", "want a name"},
		"a retention of nothing":          {"--retention=0s", "--retention 0s is not positive"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := parse(strings.Fields(test.args))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestHelpNamesEveryFlagAndShowsExamples(t *testing.T) {
	if _, err := parse([]string{"--help"}); !errors.Is(err, flag.ErrHelp) {
		t.Fatalf("--help is answered with %v, want flag.ErrHelp", err)
	}
	var text strings.Builder
	writeUsage(&text)
	o := defaults()
	o.flags().VisitAll(func(f *flag.Flag) {
		if !strings.Contains(text.String(), "\n  -"+f.Name) {
			t.Errorf("help does not name --%s", f.Name)
		}
	})
	if !strings.Contains(text.String(), "temporal-devserver --db-filename temporal.db") {
		t.Error("help has no example")
	}
}
