package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	sqliteschema "go.temporal.io/server/schema/sqlite"
)

const (
	clusterName = "active"
	store       = "sqlite"
	// shards is fixed for a database's life.
	shards = 1
)

func serverConfig(o Options) (*config.Config, error) {
	sql, err := openDatabase(o)
	if err != nil {
		return nil, err
	}
	cfg := &config.Config{}
	cfg.Global.Membership.MaxJoinDuration = 30 * time.Second
	cfg.Global.Membership.BroadcastAddress = o.IP
	cfg.Persistence = config.Persistence{
		DefaultStore:     store,
		VisibilityStore:  store,
		NumHistoryShards: shards,
		DataStores:       map[string]config.DataStore{store: {SQL: sql}},
	}
	cfg.ClusterMetadata = &cluster.Config{
		FailoverVersionIncrement: 10,
		MasterClusterName:        clusterName,
		CurrentClusterName:       clusterName,
		ClusterInformation: map[string]cluster.ClusterInformation{clusterName: {
			Enabled:                true,
			InitialFailoverVersion: 1,
			RPCAddress:             address(o),
			ClusterID:              clusterName,
		}},
	}
	cfg.DCRedirectionPolicy.Policy = "noop"
	cfg.Archival.History.State = "disabled"
	cfg.Archival.Visibility.State = "disabled"
	cfg.NamespaceDefaults.Archival.History.State = "disabled"
	cfg.NamespaceDefaults.Archival.Visibility.State = "disabled"
	cfg.PublicClient.HostPort = address(o)
	cfg.Services = map[string]config.Service{}
	for _, s := range []primitives.ServiceName{primitives.HistoryService, primitives.MatchingService, primitives.WorkerService} {
		port, err := freePort(o.IP)
		if err != nil {
			return nil, err
		}
		cfg.Services[string(s)] = service(o.IP, port)
	}
	cfg.Services[string(primitives.FrontendService)] = service(o.IP, o.Port)
	return cfg, nil
}

func service(ip string, port int) config.Service {
	var s config.Service
	s.RPC.GRPCPort = port
	s.RPC.BindOnIP = ip
	return s
}

// openDatabase makes the schema and the namespaces that are missing.
func openDatabase(o Options) (*config.SQL, error) {
	sql := &config.SQL{PluginName: sqlite.PluginName, DatabaseName: o.DBFilename, ConnectAttributes: map[string]string{"mode": "rwc"}}
	if o.DBFilename == "" {
		sql.DatabaseName = "fairlead" + strconv.Itoa(os.Getpid())
		sql.ConnectAttributes = map[string]string{"mode": "memory", "cache": "shared"}
	}
	for k, v := range o.Pragmas {
		sql.ConnectAttributes[k] = v
	}
	if o.DBFilename != "" {
		if err := setUpSchema(o.DBFilename, sql); err != nil {
			return nil, err
		}
	}
	for _, name := range o.Namespaces {
		ns, err := sqliteschema.NewNamespaceConfig(clusterName, name, false, o.SearchAttributes)
		if err != nil {
			return nil, fmt.Errorf("describe namespace %s: %w", name, err)
		}
		if err := sqliteschema.CreateNamespaces(sql, ns); err != nil {
			return nil, fmt.Errorf("create namespace %s: %w", name, err)
		}
	}
	return sql, nil
}

// setUpSchema fills a new database next to its place and moves it there, so that a
// crash leaves either none or a whole one.
func setUpSchema(file string, sql *config.SQL) error {
	_, err := os.Stat(file)
	if err == nil {
		return nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("open the database: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return fmt.Errorf("create the database's folder: %w", err)
	}
	draft := *sql
	draft.DatabaseName = file + ".new"
	// Without a write-ahead log the draft is one file.
	draft.ConnectAttributes = map[string]string{"mode": "rwc"}
	if err := os.RemoveAll(draft.DatabaseName); err != nil {
		return fmt.Errorf("remove a half-made database: %w", err)
	}
	if err := sqliteschema.SetupSchema(&draft); err != nil {
		return fmt.Errorf("set up the database %s: %w", draft.DatabaseName, err)
	}
	if err := os.Rename(draft.DatabaseName, file); err != nil {
		return fmt.Errorf("put the new database in its place: %w", err)
	}
	return nil
}

func freePort(ip string) (int, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(ip, "0"))
	if err != nil {
		return 0, fmt.Errorf("find a free port on %s: %w", ip, err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}
