package process_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/process"
	"example.com/fairlead/activities/provider/providertest"
)

// begins is what that program says before its call.
const begins = "\n"

// runCall makes a call as another program that uses the state directory.
func runCall(call providertest.Call, stateDir, network, request string) int {
	var req provider.Request
	err := json.Unmarshal([]byte(request), &req)
	var p *process.Provider
	if err == nil {
		p, err = process.New(process.Options{
			Settings:  process.Settings{StateDir: stateDir, Network: network},
			ClusterID: providertest.Cluster,
			Command:   []string{os.Args[0], asProxy},
		})
	}
	if err == nil {
		_, err = os.Stdout.WriteString(begins)
	}
	if err == nil {
		err = call.Make(context.Background(), p, req)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// firstKill is shorter than the parts of a call, which the kills walk through.
const firstKill = time.Millisecond

// killAfter is how long a call goes on before the kill with this number: each time a
// quarter longer, so that a slow machine takes only some more of them.
func killAfter(steps int) time.Duration {
	after := firstKill
	for range steps {
		after += after / 4
	}
	return after
}

// killIn runs a call in another program and kills that after so many steps.
func (b *backend) killIn(t *testing.T, call providertest.Call, req provider.Request, steps int) (ended bool) {
	t.Helper()
	data, err := json.Marshal(req)
	must(t, err)
	var told strings.Builder
	program := exec.Command(os.Args[0], string(call), b.options.StateDir, b.options.Network, string(data))
	program.Stderr = &told
	out, err := program.StdoutPipe()
	must(t, err)
	must(t, program.Start())
	if _, err := out.Read(make([]byte, len(begins))); err != nil {
		t.Errorf("the program does not begin: %v", err)
	}
	kill := time.AfterFunc(killAfter(steps), func() { _ = program.Process.Kill() }) // it may have ended
	err = program.Wait()
	if kill.Stop() && err != nil {
		t.Fatalf("%s: %v: %s", call, err, told.String())
	}
	return err == nil
}
