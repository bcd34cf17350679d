package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	// answerLimit is how long an answer may take that nobody waits for.
	answerLimit = 10 * time.Second
	// writeLimit is that of an answer for which the API writes to its cluster.
	writeLimit = 20 * time.Second
	// maxAnswer is far more than a list of 100,000 leases.
	maxAnswer = 256 << 20
	// firstPause and maxPause are between two attempts.
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
)

// call is one request to the API.
type call struct {
	method, path string
	// body is sent as JSON unless it is nil.
	body any
	// key makes repeating the request harmless.
	key string
	// limit of one attempt; 0 is answerLimit.
	limit time.Duration
	// once: whoever calls tries again.
	once bool
	// settle is how long an attempt goes on for its answer though nobody wants it any more,
	// counted from when it was sent: what it was given has to be given back.
	settle time.Duration
}

// reply is the answer to a call that was done.
type reply struct {
	header http.Header
	body   []byte
	// sent is before the first attempt: what the call did, it did later.
	sent time.Time
}

func (r *reply) into(v any) error {
	if err := json.Unmarshal(r.body, v); err != nil {
		return fmt.Errorf("read the answer of the API: %w", err)
	}
	return nil
}

// do sends k until it is answered: an API that cannot be reached, or asks to come back, is
// asked again within the patience of the client.
func (c *Client) do(ctx context.Context, k call) (*reply, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	sent, paused := time.Now(), time.Duration(0)
	for attempt := 0; ; attempt++ {
		r, err := c.attempt(ctx, k)
		if err == nil {
			r.sent = sent
			return r, nil
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w; last: %w", context.Cause(ctx), err)
		}
		if k.once || !mayPass(err, attempt) {
			return nil, err
		}
		left := c.options.Patience - paused
		if left <= 0 || askedPause(err) > left {
			return nil, err
		}
		pause := min(c.backoff(err, attempt), left)
		if paused += pause; c.options.Retrying != nil {
			c.options.Retrying(err, pause, time.Now().Add(left))
		}
		if sleep(ctx, pause) != nil {
			return nil, fmt.Errorf("%w; last: %w", context.Cause(ctx), err)
		}
	}
}

// doInto is do for an answer that is JSON.
func (c *Client) doInto(ctx context.Context, k call, v any) error {
	r, err := c.do(ctx, k)
	if err != nil {
		return err
	}
	return r.into(v)
}

// mayPass says whether err may be gone at the next attempt.
func mayPass(err error, attempt int) bool {
	var token *tokenError
	if errors.As(err, &token) {
		return false
	}
	var refusal *Error
	if !errors.As(err, &refusal) {
		return true // there was no answer
	}
	if refusal.Code == codeNoAddons { // which somebody has to change
		return false
	}
	switch refusal.Status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	// The attempt whose connection broke may wait there still.
	return refusal.Code == codeKeyInUse && attempt > 0
}

func (c *Client) backoff(err error, attempt int) time.Duration {
	pause := min(firstPause<<min(attempt, 10), maxPause)
	pause = pause/2 + time.Duration(c.options.Jitter()*float64(pause))
	return pause + askedPause(err)
}

// askedPause is that which the API asks for.
func askedPause(err error) time.Duration {
	var refusal *Error
	if errors.As(err, &refusal) {
		return max(0, refusal.RetryAfter)
	}
	return 0
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// attempt sends k once. An answer that has begun is read to its end, whatever becomes of
// ctx: it may be a lease.
func (c *Client) attempt(ctx context.Context, k call) (*reply, error) {
	limit := k.limit
	if limit == 0 {
		limit = answerLimit
	}
	own, cut := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cut()
	settled := time.Now().Add(k.settle)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(time.Until(settled), cut) })
	defer stop()

	req, err := c.request(own, k)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	stop()
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("%s %s: read the answer: %w", k.method, req.URL, err)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, refusalOf(resp.StatusCode, resp.Header, body)
	}
	return &reply{header: resp.Header, body: body}, nil
}

func (c *Client) request(ctx context.Context, k call) (*http.Request, error) {
	var content io.Reader = http.NoBody
	if k.body != nil {
		text, err := json.Marshal(k.body)
		if err != nil {
			return nil, fmt.Errorf("write the request: %w", err)
		}
		content = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, k.method, c.base+k.path, content)
	if err != nil {
		return nil, err
	}
	if k.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if k.key != "" {
		req.Header.Set("Idempotency-Key", k.key)
	}
	return req, c.authorize(req)
}
