package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
)

const usage = `temporal-devserver runs Temporal and its Web UI in one process.

  temporal-devserver --db-filename temporal.db --ui-port 8233
  temporal-devserver --headless --search-attribute Phase=Keyword

It takes the flags of "temporal server start-dev", so that the SDKs' test suites
can start it.

Flags:
`

// Options are the command line.
type Options struct {
	IP               string
	Port             int
	UIIP             string
	UIPort           int
	Headless         bool
	DBFilename       string
	Namespaces       []string
	Retention        time.Duration
	SearchAttributes map[string]enumspb.IndexedValueType
	DynamicConfig    map[string]any
	Pragmas          map[string]string
	LogLevel         slog.Level
	LogJSON          bool
	ReadyFile        string
}

// parse reads the command line; help goes to out.
func parse(args []string, out io.Writer) (Options, error) {
	o := Options{
		SearchAttributes: map[string]enumspb.IndexedValueType{},
		DynamicConfig:    tuned(),
		Pragmas:          map[string]string{},
		LogLevel:         slog.LevelError,
	}
	for _, word := range []string{"server", "start-dev"} { // as the SDKs call it
		if len(args) > 0 && args[0] == word {
			args = args[1:]
		}
	}
	f := flag.NewFlagSet("temporal-devserver", flag.ContinueOnError)
	f.SetOutput(out)
	f.Usage = func() {
		_, _ = io.WriteString(out, usage)
		f.PrintDefaults()
	}
	f.StringVar(&o.IP, "ip", "127.0.0.1", "`address` to serve gRPC on")
	f.IntVar(&o.Port, "port", 7233, "`port` to serve gRPC on")
	f.StringVar(&o.UIIP, "ui-ip", "", "`address` to serve the Web UI on (default: that of --ip)")
	f.IntVar(&o.UIPort, "ui-port", 0, "`port` to serve the Web UI on (default: --port + 1000)")
	f.BoolVar(&o.Headless, "headless", false, "no Web UI")
	f.StringVar(&o.DBFilename, "db-filename", "", "SQLite `file` to keep everything in (default: in memory)")
	f.Func("namespace", "`name` of a namespace to have; may be repeated, default is always there", func(s string) error {
		o.Namespaces = append(o.Namespaces, s)
		return nil
	})
	f.DurationVar(&o.Retention, "retention", 72*time.Hour, "how long closed workflows are kept in new namespaces")
	f.Func("search-attribute", "`Name=Type` of a search attribute to have; may be repeated", o.addSearchAttribute)
	f.Func("dynamic-config-value", "`key=JSON` of a dynamic configuration value; may be repeated", o.addDynamicConfig)
	f.Func("sqlite-pragma", "`name=value` of a SQLite pragma; may be repeated (default with a file: journal_mode=WAL synchronous=NORMAL)", o.addPragma)
	f.Func("log-level", "debug, info, warn, error or never (default error)", o.setLogLevel)
	f.Func("log-format", "text or json (default text)", func(s string) error {
		o.LogJSON = s == "json"
		return nil
	})
	f.StringVar(&o.ReadyFile, "ready-file", "", "`file` to write when everything answers")
	if err := f.Parse(args); err != nil {
		return Options{}, err
	}
	if f.NArg() > 0 {
		return Options{}, fmt.Errorf("unexpected argument %q: see --help", f.Arg(0))
	}
	return o.complete()
}

func (o Options) complete() (Options, error) {
	if net.ParseIP(o.IP) == nil {
		return Options{}, fmt.Errorf("--ip %q is not an IP address", o.IP)
	}
	if o.UIIP == "" {
		o.UIIP = o.IP
	}
	if o.UIPort == 0 {
		o.UIPort = o.Port + 1000
	}
	if o.DBFilename != "" && len(o.Pragmas) == 0 {
		o.Pragmas = map[string]string{"journal_mode": "WAL", "synchronous": "NORMAL"}
	}
	namespaces := []string{"default"}
	for _, n := range o.Namespaces {
		if n != "default" {
			namespaces = append(namespaces, n)
		}
	}
	o.Namespaces = namespaces
	return o, nil
}

// tuned lets the task processors poll without the wait of 50 ms that the default
// rate means for a single shard.
func tuned() map[string]any {
	values := map[string]any{}
	for _, queue := range []string{"transfer", "timer", "visibility", "outbound"} {
		values["history."+queue+"ProcessorMaxPollRPS"] = 2000
	}
	return values
}

func (o *Options) addSearchAttribute(s string) error {
	name, kind, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return fmt.Errorf("want Name=Type")
	}
	t, err := enumspb.IndexedValueTypeFromString(kind)
	if err != nil {
		return fmt.Errorf("type %q is none of Text, Keyword, Int, Double, Bool, Datetime, KeywordList", kind)
	}
	o.SearchAttributes[name] = t
	return nil
}

func (o *Options) addDynamicConfig(s string) error {
	key, value, ok := strings.Cut(s, "=")
	if !ok || key == "" {
		return fmt.Errorf("want key=JSON")
	}
	var v any
	if err := json.Unmarshal([]byte(value), &v); err != nil {
		return fmt.Errorf("value of %s is not JSON: %w", key, err)
	}
	o.DynamicConfig[key] = v
	return nil
}

func (o *Options) addPragma(s string) error {
	name, value, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return fmt.Errorf("want name=value")
	}
	o.Pragmas[name] = value
	return nil
}

// never is a level above all that are logged.
const never = slog.Level(100)

func (o *Options) setLogLevel(s string) error {
	if s == "never" {
		o.LogLevel = never
		return nil
	}
	if err := o.LogLevel.UnmarshalText([]byte(s)); err != nil {
		return fmt.Errorf("want debug, info, warn, error or never")
	}
	return nil
}
