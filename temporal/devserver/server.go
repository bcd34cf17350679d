package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"
)

// run serves until ctx ends.
func run(ctx context.Context, o options) error {
	if err := errors.Join(checkPorts(o), removeReadyFile(o)); err != nil {
		return err
	}
	db := databaseConfig(o)
	if err := prepareDatabase(ctx, o, db); err != nil {
		return unlessStopped(ctx, err)
	}
	server, err := newServer(o, db)
	if err != nil {
		return fmt.Errorf("set up the server: %w", err)
	}
	if err := server.Start(); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	err = serve(ctx, o)
	return errors.Join(err, server.Stop(), closeDatabase(db))
}

// serve has the started server ready, with its Web UI, until ctx ends.
func serve(ctx context.Context, o options) error {
	if !o.Headless {
		defer startUI(o)()
	}
	if err := waitReady(ctx, o); err != nil {
		return unlessStopped(ctx, err)
	}
	if err := writeReadyFile(o); err != nil {
		return err
	}
	<-ctx.Done()
	return removeReadyFile(o)
}

// unlessStopped drops an error that only says that the server was asked to end.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func newServer(o options, db *config.SQL) (temporal.Server, error) {
	cfg, err := serverConfig(o, db)
	if err != nil {
		return nil, err
	}
	logger := newLogger(o)
	authorizer, err := authorization.GetAuthorizerFromConfig(&cfg.Global.Authorization)
	if err != nil {
		return nil, fmt.Errorf("set up authorization: %w", err)
	}
	mapper, err := authorization.GetClaimMapperFromConfig(&cfg.Global.Authorization, logger)
	if err != nil {
		return nil, fmt.Errorf("set up authorization: %w", err)
	}
	dynamic := dynamicconfig.StaticClient{}
	for key, value := range o.DynamicConfig {
		dynamic[dynamicconfig.MakeKey(key)] = value
	}
	return temporal.NewServer(
		temporal.WithConfig(cfg),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(hosts(cfg)),
		temporal.WithLogger(logger),
		temporal.WithAuthorizer(authorizer),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return mapper }),
		temporal.WithDynamicConfigClient(dynamic),
	)
}

// hosts take the place of a membership protocol: every service has one member.
func hosts(cfg *config.Config) map[primitives.ServiceName]static.Hosts {
	all := map[primitives.ServiceName]static.Hosts{}
	for name, s := range cfg.Services {
		member := net.JoinHostPort(reachable(s.RPC.BindOnIP), strconv.Itoa(s.RPC.GRPCPort))
		all[primitives.ServiceName(name)] = static.SingleLocalHost(member)
	}
	return all
}
