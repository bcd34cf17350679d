package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"example.com/fairlead/bench/internal/dice"
)

const (
	dialTimeout  = time.Second
	callPatience = 3 * time.Second
	// insistence is how long a request is sent again and again.
	insistence = time.Minute
	// retryLeast and retryMost are between attempts.
	retryLeast, retryMost = 10 * time.Millisecond, 60 * time.Millisecond
)

// caller sends requests as one client of the API, to any of its replicas.
type caller struct {
	now   func() time.Duration
	http  *http.Client
	token string
	urls  []string
	dice  *dice.Dice
	// failed is the replica that failed last, -1 for none.
	failed int
}

// request is what is sent.
type request struct {
	method, path string
	body         any
	key          string
	// wait is how long the API may wait itself.
	wait time.Duration
	// patience is how long an answer is waited for beyond that; 0 for callPatience.
	patience time.Duration
	// unforwarded: the replica that it is sent to answers itself, or refuses.
	unforwarded bool
}

func newCaller(now func() time.Duration, token string, urls []string, d *dice.Dice) *caller {
	return &caller{now: now, token: token, urls: urls, dice: d, failed: -1, http: &http.Client{
		Transport: &http.Transport{DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext, MaxIdleConnsPerHost: 1},
	}}
}

// send sends a request once.
func (c *caller) send(ctx context.Context, q request) reply {
	i := c.choose()
	r := c.sendTo(ctx, c.urls[i], q)
	c.failed = -1
	if !r.known() {
		c.failed = i
	}
	return r
}

// insist sends a request until it is answered, ctx ends, or a minute is over. The
// reply spans from the first attempt to the last answer.
func (c *caller) insist(ctx context.Context, q request) reply {
	r := c.send(ctx, q)
	for until := c.now() + insistence; !r.known() && ctx.Err() == nil && c.now() < until; {
		sent, doubt := r.sent, r.doubt()
		_ = linger(ctx, c.dice.Between(retryLeast, retryMost)) // the loop ends with ctx
		r = c.send(ctx, q)
		r.sent, r.doubtful = sent, doubt
	}
	return r
}

// choose takes any replica but the one that failed last.
func (c *caller) choose() int {
	if c.failed < 0 || len(c.urls) == 1 {
		return c.dice.Below(len(c.urls))
	}
	return (c.failed + 1 + c.dice.Below(len(c.urls)-1)) % len(c.urls)
}

func (c *caller) sendTo(ctx context.Context, url string, q request) reply {
	ctx, cancel := context.WithTimeout(ctx, q.wait+cmp.Or(q.patience, callPatience))
	defer cancel()
	s := span{c.now(), never}
	status, header, body, err := c.exchange(ctx, url, q)
	if err != nil {
		return unanswered(s, err)
	}
	s.got = c.now()
	return answered(s, status, header, body)
}

func (c *caller) exchange(ctx context.Context, url string, q request) (int, http.Header, []byte, error) {
	var body io.Reader = http.NoBody
	if q.body != nil {
		data, err := json.Marshal(q.body)
		if err != nil {
			return 0, nil, nil, fmt.Errorf("encode the body of %s %s: %w", q.method, q.path, err)
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, q.method, url+q.path, body)
	if err != nil {
		return 0, nil, nil, fmt.Errorf("make the request %s %s: %w", q.method, q.path, err)
	}
	if q.body != nil {
		req.GetBody = nil // net/http sends nothing twice that it cannot read twice
		req.Header.Set("Content-Type", "application/json")
	}
	if q.unforwarded {
		req.Header.Set("X-Fairlead-Forwarded", "1")
	}
	if q.key != "" {
		req.Header.Set("Idempotency-Key", q.key)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	answer, err := c.http.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer func() { _ = answer.Body.Close() }() // it was read, or is of no use
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, nil, nil, fmt.Errorf("read the answer: %w", err)
	}
	return answer.StatusCode, answer.Header, data, nil
}

// linger lets time go by. It fails when ctx ends.
func linger(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
