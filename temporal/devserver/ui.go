package main

import (
	"time"

	uiserver "github.com/temporalio/ui-server/v2/server"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	uioptions "github.com/temporalio/ui-server/v2/server/server_options"
)

// startUI serves the Web UI until the returned function is called. Should it not
// be able to listen, it says so and ends the process itself.
func startUI(o options) (stop func()) {
	ui := uiserver.NewServer(uioptions.WithConfigProvider(&uiconfig.Config{
		Host:                o.UIIP,
		Port:                o.UIPort,
		TemporalGRPCAddress: o.address(),
		EnableUI:            true,
		HideLogs:            true,
		DisableNewsFetch:    true, // it calls home
		RefreshInterval:     time.Minute,
		CORS:                uiconfig.CORS{CookieInsecure: true}, // plain HTTP on loopback
	}))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = ui.Start() // nil, or it does not return
	}()
	return func() {
		ui.Stop()
		<-done
	}
}
