package main

import (
	"time"

	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/primitives"
)

const (
	clusterName = "active"
	storeName   = "sqlite"
	// shards is fixed for a database's life.
	shards = 1
)

// serverConfig is that of a single server on one database, without archival.
func serverConfig(o options, db *config.SQL) (*config.Config, error) {
	services, err := services(o)
	if err != nil {
		return nil, err
	}
	cfg := &config.Config{Services: services}
	cfg.Global.Membership.MaxJoinDuration = 30 * time.Second
	cfg.Global.Membership.BroadcastAddress = loopback
	cfg.Persistence = config.Persistence{
		DefaultStore:     storeName,
		VisibilityStore:  storeName,
		NumHistoryShards: shards,
		DataStores:       map[string]config.DataStore{storeName: {SQL: db}},
	}
	cfg.ClusterMetadata = &cluster.Config{
		FailoverVersionIncrement: 10,
		MasterClusterName:        clusterName,
		CurrentClusterName:       clusterName,
		ClusterInformation: map[string]cluster.ClusterInformation{clusterName: {
			Enabled:                true,
			InitialFailoverVersion: 1,
			RPCAddress:             o.address(),
			ClusterID:              clusterName,
		}},
	}
	cfg.DCRedirectionPolicy.Policy = "noop"
	cfg.Archival.History.State = "disabled"
	cfg.Archival.Visibility.State = "disabled"
	cfg.NamespaceDefaults.Archival.History.State = "disabled"
	cfg.NamespaceDefaults.Archival.Visibility.State = "disabled"
	cfg.PublicClient.HostPort = o.address()
	return cfg, nil
}

// services gives the frontend the address of the command line, and the others
// free ports on loopback.
func services(o options) (map[string]config.Service, error) {
	inner := []primitives.ServiceName{primitives.HistoryService, primitives.MatchingService, primitives.WorkerService}
	ports, err := reservePorts(len(inner))
	if err != nil {
		return nil, err
	}
	all := map[string]config.Service{string(primitives.FrontendService): service(o.IP, o.Port)}
	for i, name := range inner {
		all[string(name)] = service(loopback, ports[i])
	}
	return all, nil
}

func service(ip string, port int) config.Service {
	var s config.Service
	s.RPC.GRPCPort = port
	s.RPC.BindOnIP = ip
	return s
}
