package conn_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/temporal/conn"
	"example.com/fairlead/temporal/wire"
)

// shaky stands in for a Temporal that answers, but whose operator service comes up
// later than the rest.
type shaky struct {
	workflowservice.UnimplementedWorkflowServiceServer
	operatorservice.UnimplementedOperatorServiceServer
	refusals atomic.Int32
}

func (*shaky) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

func (s *shaky) ListSearchAttributes(context.Context, *operatorservice.ListSearchAttributesRequest) (*operatorservice.ListSearchAttributesResponse, error) {
	if s.refusals.Add(-1) >= 0 {
		return nil, status.Error(codes.Unavailable, "still starting")
	}
	all := map[string]enumspb.IndexedValueType{}
	for _, a := range wire.SearchAttributes() {
		all[a.GetName()] = a.GetValueType()
	}
	return &operatorservice.ListSearchAttributesResponse{CustomAttributes: all}, nil
}

func (s *shaky) serve(t *testing.T) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, s)
	operatorservice.RegisterOperatorServiceServer(server, s)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

func TestUnavailableSearchAttributesAreWaitedFor(t *testing.T) {
	s := &shaky{}
	s.refusals.Store(1)
	var log bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c, err := conn.Dial(ctx, conn.Options{Address: s.serve(t), Namespace: "n", Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if !strings.Contains(log.String(), "Temporal cannot be used yet, trying again") || !strings.Contains(log.String(), "still starting") {
		t.Errorf("the log is\n%s", &log)
	}
}

func TestLazyClientNeedsNoServerUntilItIsUsed(t *testing.T) {
	c, err := conn.Lazy(conn.Options{Address: "127.0.0.1:1", Namespace: "n", Log: localtest.Quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := c.SignalWorkflow(ctx, "id", "", "signal", nil); err == nil {
		t.Error("a signal to nobody was accepted")
	}
}
