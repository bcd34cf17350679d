package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	uiserver "github.com/temporalio/ui-server/v2/server"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	uioptions "github.com/temporalio/ui-server/v2/server/server_options"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"
)

// run serves until ctx ends.
func run(ctx context.Context, o Options) error {
	if err := checkFree(o.IP, o.Port, "--port"); err != nil {
		return err
	}
	if !o.Headless {
		if err := checkFree(o.UIIP, o.UIPort, "--ui-port"); err != nil {
			return err
		}
	}
	cfg, err := serverConfig(o)
	if err != nil {
		return err
	}
	server, err := newServer(o, cfg)
	if err != nil {
		return fmt.Errorf("set up the server: %w", err)
	}
	if err := server.Start(); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	defer func() { _ = server.Stop() }()
	failed := make(chan error, 1)
	if !o.Headless {
		ui := newUI(o)
		go func() { failed <- ui.Start() }()
		defer ui.Stop()
	}
	if err := prepare(ctx, o); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	if o.ReadyFile != "" {
		if err := os.WriteFile(o.ReadyFile, []byte(address(o)+"\n"), 0o600); err != nil {
			return fmt.Errorf("write the ready file: %w", err)
		}
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return fmt.Errorf("the Web UI stopped: %w", err)
	}
}

func address(o Options) string { return net.JoinHostPort(o.IP, strconv.Itoa(o.Port)) }

// checkFree turns a taken port into an error that names it: the server itself
// would panic.
func checkFree(ip string, port int, flagName string) error {
	addr := net.JoinHostPort(ip, strconv.Itoa(port))
	l, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("address %s is taken by another process: choose another one with %s", addr, flagName)
	}
	if err != nil {
		return fmt.Errorf("listen on %s: %w", addr, err)
	}
	return l.Close()
}

func newServer(o Options, cfg *config.Config) (temporal.Server, error) {
	logger := newLogger(o)
	authorizer, err := authorization.GetAuthorizerFromConfig(&cfg.Global.Authorization)
	if err != nil {
		return nil, fmt.Errorf("set up authorization: %w", err)
	}
	mapper, err := authorization.GetClaimMapperFromConfig(&cfg.Global.Authorization, logger)
	if err != nil {
		return nil, fmt.Errorf("set up authorization: %w", err)
	}
	hosts := map[primitives.ServiceName]static.Hosts{}
	for _, s := range []primitives.ServiceName{primitives.FrontendService, primitives.HistoryService, primitives.MatchingService, primitives.WorkerService} {
		hosts[s] = static.SingleLocalHost(net.JoinHostPort(o.IP, strconv.Itoa(cfg.Services[string(s)].RPC.GRPCPort)))
	}
	dynamic := dynamicconfig.StaticClient{}
	for k, v := range o.DynamicConfig {
		dynamic[dynamicconfig.MakeKey(k)] = v
	}
	return temporal.NewServer(
		temporal.WithConfig(cfg),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(hosts),
		temporal.WithLogger(logger),
		temporal.WithAuthorizer(authorizer),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return mapper }),
		temporal.WithDynamicConfigClient(dynamic),
	)
}

func newUI(o Options) *uiserver.Server {
	return uiserver.NewServer(uioptions.WithConfigProvider(&uiconfig.Config{
		Host:                o.UIIP,
		Port:                o.UIPort,
		TemporalGRPCAddress: address(o),
		EnableUI:            true,
		HideLogs:            true,
		DisableNewsFetch:    true,
		RefreshInterval:     time.Minute,
		CORS:                uiconfig.CORS{CookieInsecure: true}, // plain HTTP on loopback
	}))
}
