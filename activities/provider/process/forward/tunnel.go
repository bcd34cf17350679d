package forward

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// tunnelIdle ends a tunnel through which nothing went either way.
	tunnelIdle = 5 * time.Minute
	// halfClosedIdle is shorter: one side has said all it had to say.
	halfClosedIdle   = time.Minute
	tunnelBufferSize = 32 << 10
)

// connect answers a CONNECT request with a tunnel.
func (p *proxy) connect(w http.ResponseWriter, r *http.Request) {
	if _, _, err := net.SplitHostPort(r.Host); err != nil {
		http.Error(w, "CONNECT needs host:port", http.StatusBadRequest)
		return
	}
	target, err := p.dialer.dial(r.Context(), "tcp", r.Host)
	if err != nil {
		http.Error(w, fmt.Sprintf("the proxy got no connection to %s: %v", r.Host, err), http.StatusBadGateway)
		return
	}
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = target.Close()
		http.Error(w, "this connection cannot carry a tunnel", http.StatusInternalServerError)
		return
	}
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		_, _ = client.Close(), target.Close()
		return
	}
	t := &tunnel{client: client, target: target, early: buffered.Reader}
	t.idle.Store(int64(tunnelIdle))
	p.tunnels.run(t)
}

// tunnel carries bytes between two connections.
type tunnel struct {
	client, target net.Conn
	early          *bufio.Reader // what the client sent right behind its request
	active         atomic.Int64  // when bytes last went either way, in Unix nanoseconds
	idle           atomic.Int64  // how long none may, in nanoseconds
}

// run returns when both directions have ended.
func (t *tunnel) run() {
	t.active.Store(time.Now().UnixNano())
	var back sync.WaitGroup
	back.Go(func() { t.carry(t.client, t.target, t.target) })
	t.carry(t.target, t.client, io.MultiReader(io.LimitReader(t.early, int64(t.early.Buffered())), t.client))
	back.Wait()
	t.close()
}

func (t *tunnel) close() { _, _ = t.client.Close(), t.target.Close() }

// carry copies from one connection to the other until the first ends, and passes
// on its end only: the other direction goes on. A failure ends both.
func (t *tunnel) carry(dst, src net.Conn, from io.Reader) {
	buffer := make([]byte, tunnelBufferSize)
	for {
		t.extend(src.SetReadDeadline)
		n, err := from.Read(buffer)
		if n > 0 {
			t.active.Store(time.Now().UnixNano())
			t.extend(dst.SetWriteDeadline)
			if _, err := dst.Write(buffer[:n]); err != nil {
				t.close()
				return
			}
		}
		switch {
		case err == nil, errors.Is(err, os.ErrDeadlineExceeded) && t.busy():
		case errors.Is(err, io.EOF) && closeWrite(dst) == nil:
			t.idle.Store(int64(halfClosedIdle))
			t.extend(dst.SetReadDeadline) // for the other direction, which may be waiting
			return
		default:
			t.close()
			return
		}
	}
}

// extend sets a deadline. It counts from the last byte of either direction: a
// client that only listens to a long answer is not idle.
func (t *tunnel) extend(set func(time.Time) error) {
	_ = set(time.Unix(0, t.active.Load()).Add(time.Duration(t.idle.Load()))) // a closed connection says so when used
}

func (t *tunnel) busy() bool {
	return time.Since(time.Unix(0, t.active.Load())) < time.Duration(t.idle.Load())
}

func closeWrite(c net.Conn) error {
	half, ok := c.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}
