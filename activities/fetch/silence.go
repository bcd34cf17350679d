package fetch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// errSilent is why a request was given up.
var errSilent = Temporary("the server sent nothing for too long")

// Listener sends requests and gives up on servers that fall silent.
type Listener struct {
	Transport http.RoundTripper
	// Silence is how long a server may send nothing while somebody waits for it.
	Silence time.Duration
}

// RoundTrip implements http.RoundTripper. Closing the body ends the request.
func (l Listener) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	quiet := time.AfterFunc(l.Silence, func() { cancel(errSilent) })
	resp, err := l.Transport.RoundTrip(req.WithContext(ctx))
	quiet.Stop()
	if err != nil {
		err = because(ctx, err)
		cancel(nil)
		return nil, err
	}
	resp.Body = &heard{ReadCloser: resp.Body, ctx: ctx, cancel: cancel, quiet: quiet, silence: l.Silence}
	return resp, nil
}

// because is the cause of a request's end, or else err.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// heard is a body that is listened to.
type heard struct {
	io.ReadCloser

	ctx     context.Context // of the request, which the body is a part of
	cancel  context.CancelCauseFunc
	quiet   *time.Timer
	silence time.Duration
}

func (b *heard) Read(p []byte) (int, error) {
	b.quiet.Reset(b.silence)
	n, err := b.ReadCloser.Read(p)
	b.quiet.Stop()
	if err != nil && !errors.Is(err, io.EOF) {
		return n, because(b.ctx, err)
	}
	return n, err
}

func (b *heard) Close() error {
	b.cancel(nil)
	return b.ReadCloser.Close()
}
