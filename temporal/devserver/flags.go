package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
)

const usage = `temporal-devserver runs Temporal and its Web UI in one process.

  # in memory, on 127.0.0.1:7233, the UI on http://127.0.0.1:8233
  temporal-devserver

  # keep everything in a file, and know when it can be used
  temporal-devserver --db-filename temporal.db --ready-file temporal.ready

  # for tests: no UI, a namespace and search attributes of their own
  temporal-devserver --headless --port 17233 --namespace test --search-attribute Phase=Keyword

  # any setting of the server
  temporal-devserver --dynamic-config-value limit.blobSize.error=4194304

SIGINT and SIGTERM end it in order. Started again on the same file, it adds the
namespaces and search attributes that are missing. It takes the flags of
"temporal server start-dev", and those two words, so that the test suites of the
SDKs can start it.

Flags:
`

func writeUsage(out io.Writer) {
	o := defaults()
	f := o.flags()
	f.SetOutput(out)
	_, _ = io.WriteString(out, usage)
	f.PrintDefaults()
}

// parse reads the command line; flag.ErrHelp is a wish for help.
func parse(args []string) (options, error) {
	for _, word := range []string{"server", "start-dev"} {
		if len(args) > 0 && args[0] == word {
			args = args[1:]
		}
	}
	o := defaults()
	f := o.flags()
	if err := f.Parse(args); err != nil {
		return options{}, err
	}
	if f.NArg() > 0 {
		return options{}, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	return o.complete()
}

// flags are the flags that set o, whose present values are their defaults.
func (o *options) flags() *flag.FlagSet {
	f := flag.NewFlagSet("temporal-devserver", flag.ContinueOnError)
	f.SetOutput(io.Discard) // the caller tells about errors
	f.StringVar(&o.IP, "ip", o.IP, "`address` to serve gRPC on")
	f.IntVar(&o.Port, "port", o.Port, "`port` to serve gRPC on")
	f.StringVar(&o.UIIP, "ui-ip", o.UIIP, "`address` to serve the Web UI on (default that of --ip)")
	f.IntVar(&o.UIPort, "ui-port", o.UIPort, "`port` to serve the Web UI on (default --port + 1000)")
	f.BoolVar(&o.Headless, "headless", o.Headless, "no Web UI")
	f.StringVar(&o.DBFilename, "db-filename", o.DBFilename, "SQLite `file` to keep everything in (default in memory)")
	f.Func("namespace", "`name` of a namespace to have besides default; may be repeated", o.addNamespace)
	f.DurationVar(&o.Retention, "retention", o.Retention, "how long closed workflows are kept in a new namespace")
	f.Func("search-attribute", "`Name=Type` of a search attribute to have; may be repeated", o.addSearchAttribute)
	f.Func("dynamic-config-value", "`key=JSON` of a dynamic configuration value; may be repeated", o.addDynamicConfig)
	f.Func("sqlite-pragma", "`name=value` of a SQLite pragma; may be repeated (default with a file journal_mode=WAL and synchronous=NORMAL)", o.addPragma)
	f.Func("log-level", "`level` of the log: debug, info, warn, error or never (default error)", o.setLogLevel)
	f.Func("log-format", "`format` of the log: text or json (default text)", o.setLogFormat)
	f.StringVar(&o.ReadyFile, "ready-file", o.ReadyFile, "`file` that is there as long as everything answers")
	return f
}

func (o *options) addSearchAttribute(s string) error {
	name, kind, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return errors.New("want Name=Type")
	}
	t, err := enumspb.IndexedValueTypeFromString(kind)
	if err != nil || t == enumspb.INDEXED_VALUE_TYPE_UNSPECIFIED {
		return fmt.Errorf("type %q is none of Text, Keyword, Int, Double, Bool, Datetime, KeywordList", kind)
	}
	o.SearchAttributes[name] = t
	return nil
}

func (o *options) addDynamicConfig(s string) error {
	key, value, ok := strings.Cut(s, "=")
	if !ok || key == "" {
		return errors.New("want key=JSON")
	}
	var v any
	if err := json.Unmarshal([]byte(value), &v); err != nil {
		return fmt.Errorf("value of %s is not JSON (a string needs quotes): %w", key, err)
	}
	o.DynamicConfig[key] = v
	return nil
}

func (o *options) addPragma(s string) error {
	name, value, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return errors.New("want name=value")
	}
	o.Pragmas[name] = value
	return nil
}

// never is a level above all that are logged.
const never = slog.Level(100)

func (o *options) setLogLevel(s string) error {
	if s == "never" {
		o.LogLevel = never
		return nil
	}
	if err := o.LogLevel.UnmarshalText([]byte(s)); err != nil {
		return errors.New("want debug, info, warn, error or never")
	}
	return nil
}

func (o *options) setLogFormat(s string) error {
	switch s {
	case "text", "pretty": // the SDKs' documentation calls it pretty
		o.LogJSON = false
	case "json":
		o.LogJSON = true
	default:
		return errors.New("want text or json")
	}
	return nil
}
