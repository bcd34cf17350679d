package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

// targetName is this machine, the only target.
const targetName = "local"

// Reasons of a verdict on the target.
const (
	reasonReady      = "Ready"
	reasonStateDir   = "StateDirNotWritable"
	reasonProgram    = "ProgramNotExecutable"
	reasonNoAddress  = "NoFreeAddress"
	reasonNoMoreRoom = "InstancesExhausted"
)

// Check says whether one more instance could be created.
func (p *Provider) Check(ctx context.Context) []provider.TargetStatus {
	status := provider.TargetStatus{Name: targetName, Ready: true, Reason: reasonReady, Details: map[string]string{
		"stateDir": p.stateDir, "network": p.network.String(),
	}}
	if names, err := p.names(); err == nil {
		status.Details["instances"] = strconv.Itoa(len(names))
	}
	for _, check := range []struct {
		reason string
		run    func(context.Context) error
	}{
		{reasonStateDir, p.checkStateDir},
		{reasonProgram, p.checkProgram},
		{reasonNoMoreRoom, func(context.Context) error { return p.checkRoom() }},
		{reasonNoAddress, p.checkAddresses},
	} {
		if err := check.run(ctx); err != nil {
			status.Ready, status.Reason, status.Message = false, check.reason, err.Error()
			break
		}
	}
	return []provider.TargetStatus{status}
}

func (p *Provider) checkStateDir(context.Context) error {
	if _, err := p.ensure(); err != nil {
		return err
	}
	f, err := os.CreateTemp(p.stateDir, ".check-")
	if err != nil {
		return diskError("write to the state directory", err)
	}
	_, err = f.WriteString("check")
	if err := errors.Join(err, f.Close(), os.Remove(f.Name())); err != nil {
		return diskError("write to the state directory", err)
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(p.stateDir, &fs); err == nil && fs.Bavail == 0 {
		return diskError("write to "+p.stateDir, syscall.ENOSPC)
	}
	return nil
}

func (p *Provider) checkProgram(context.Context) error {
	if _, err := exec.LookPath(p.command[0]); err != nil {
		return fmt.Errorf("the proxy program: %w", err)
	}
	return nil
}

func (p *Provider) checkAddresses(ctx context.Context) error {
	_, err := p.chooseAddress(ctx, provider.Request{}, crawl.DefaultPort)
	return err
}
