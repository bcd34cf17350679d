package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
)

const (
	defaultNamespace = "default"
	// uiPortOffset is what `temporal server start-dev` adds.
	uiPortOffset = 1000
)

// options are the command line.
type options struct {
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

func defaults() options {
	return options{
		IP:               loopback,
		Port:             7233,
		Namespaces:       []string{defaultNamespace},
		Retention:        72 * time.Hour,
		SearchAttributes: map[string]enumspb.IndexedValueType{},
		DynamicConfig:    tuned(),
		Pragmas:          map[string]string{},
		LogLevel:         slog.LevelError,
	}
}

// tuned is the dynamic configuration that --dynamic-config-value starts from.
func tuned() map[string]any {
	values := map[string]any{
		"frontend.enableServerVersionCheck": false, // it calls home
		// The default of 10 lists a second is for a cluster that many share.
		"frontend.namespaceRPS.visibility": 1000,
	}
	// The default rate is 20 a shard, and there is one shard: every task would wait
	// in steps of 50 ms.
	for _, queue := range []string{"transfer", "timer", "visibility", "outbound"} {
		values["history."+queue+"ProcessorMaxPollRPS"] = 2000
	}
	return values
}

// complete fills in what depends on other flags, and refuses what cannot work.
func (o options) complete() (options, error) {
	if o.IP == "localhost" {
		o.IP = loopback // the SDKs pass on what their callers say
	}
	if o.UIIP == "" {
		o.UIIP = o.IP
	}
	if o.UIPort == 0 {
		o.UIPort = o.Port + uiPortOffset
	}
	if o.DBFilename != "" {
		// SQLite's own defaults are three times slower.
		for name, value := range map[string]string{"journal_mode": "WAL", "synchronous": "NORMAL"} {
			if _, given := o.Pragmas[name]; !given {
				o.Pragmas[name] = value
			}
		}
	}
	return o, o.validate()
}

func (o options) validate() error {
	errs := []error{validIP("--ip", o.IP), validPort("--port", o.Port)}
	if !o.Headless {
		errs = append(errs, validIP("--ui-ip", o.UIIP), validPort("--ui-port", o.UIPort))
		if o.UIPort == o.Port && o.UIIP == o.IP {
			errs = append(errs, errors.New("--ui-port must differ from --port"))
		}
	}
	if o.Retention <= 0 {
		errs = append(errs, fmt.Errorf("--retention %s is not positive", o.Retention))
	}
	return errors.Join(errs...)
}

func validIP(flag, ip string) error {
	if net.ParseIP(ip) == nil {
		return fmt.Errorf("%s %q is not an IP address", flag, ip)
	}
	return nil
}

func validPort(flag string, port int) error {
	if port < 1 || port > 65535 {
		return fmt.Errorf("%s %d is not between 1 and 65535", flag, port)
	}
	return nil
}

func (o *options) addNamespace(name string) error {
	if name == "" {
		return errors.New("want a name")
	}
	if !slices.Contains(o.Namespaces, name) {
		o.Namespaces = append(o.Namespaces, name)
	}
	return nil
}

// address is where clients, the UI among them, reach the frontend.
func (o options) address() string {
	return net.JoinHostPort(reachable(o.IP), strconv.Itoa(o.Port))
}

// uiAddress is where the Web UI is reached.
func (o options) uiAddress() string {
	return net.JoinHostPort(reachable(o.UIIP), strconv.Itoa(o.UIPort))
}

// reachable is an address that can be called, for one that is listened on.
func reachable(ip string) string {
	if net.ParseIP(ip).IsUnspecified() {
		return loopback
	}
	return ip
}
