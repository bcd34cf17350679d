package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Result is what is said of a lease.
type Result string

// The results.
const (
	OK          Result = "ok"
	RateLimited Result = "rate_limited"
	Banned      Result = "banned"
)

// Report is what was seen through a lease.
type Report struct {
	Result Result
	// Target is the host that was fetched from; empty means that of the lease.
	Target string
	// RetryAfter is what the target asked for, with RateLimited only; 0 if it did not.
	RetryAfter time.Duration
}

// wireReport is a Report as the API takes it.
type wireReport struct {
	Result            Result `json:"result"`
	Target            string `json:"target,omitempty"`
	RetryAfterSeconds int64  `json:"retryAfterSeconds,omitempty"`
}

// maxRetryAfter is the longest that the API takes.
const maxRetryAfter = 24 * time.Hour

func leasePath(id string) string { return "/v1/leases/" + url.PathEscape(id) }

// List returns the active leases that the token may see, the oldest first.
func (c *Client) List(ctx context.Context) ([]Listed, error) {
	var list struct {
		Leases []Listed `json:"leases"`
	}
	r, err := c.do(ctx, call{method: http.MethodGet, path: "/v1/leases"})
	if err == nil {
		err = r.into(&list)
	}
	if err != nil {
		return nil, fmt.Errorf("list the leases: %w", err)
	}
	return list.Leases, nil
}

// Renew lets the lease with this id last for ttl from now, or as long as it was granted for
// if ttl is 0; it never shortens it. A Lease renews itself.
func (c *Client) Renew(ctx context.Context, id string, ttl time.Duration) (Renewal, error) {
	renewal, _, err := c.renew(ctx, id, renewCall(id, ttl))
	return renewal, err
}

func renewCall(id string, ttl time.Duration) call {
	var body struct {
		TTLSeconds int64 `json:"ttlSeconds,omitempty"`
	}
	body.TTLSeconds = seconds(ttl)
	return call{method: http.MethodPost, path: leasePath(id) + "/renew", body: body}
}

// renew also returns when the call was sent, before which the lease was not renewed.
func (c *Client) renew(ctx context.Context, id string, k call) (Renewal, time.Time, error) {
	var renewal Renewal
	r, err := c.do(ctx, k)
	if err == nil {
		err = r.into(&renewal)
	}
	if err != nil {
		return Renewal{}, time.Time{}, fmt.Errorf("renew lease %s: %w", id, err)
	}
	return renewal, r.sent, nil
}

// Report tells what was seen through the lease with this id, which may have ended lately.
func (c *Client) Report(ctx context.Context, id string, report Report) error {
	body := wireReport{Result: report.Result, Target: report.Target, RetryAfterSeconds: seconds(min(report.RetryAfter, maxRetryAfter))}
	_, err := c.do(ctx, call{method: http.MethodPost, path: leasePath(id) + "/report", body: body})
	if err != nil {
		return fmt.Errorf("report %s on lease %s: %w", report.Result, id, err)
	}
	return nil
}

// Release gives the lease with this id back. One that ended already is no error.
func (c *Client) Release(ctx context.Context, id string) error {
	_, err := c.do(ctx, call{method: http.MethodDelete, path: leasePath(id)})
	if err != nil && !errors.Is(err, ErrUnknownLease) {
		return fmt.Errorf("release lease %s: %w", id, err)
	}
	return nil
}

// seconds rounds up: nobody gets less than was asked for.
func seconds(d time.Duration) int64 {
	return int64((d + time.Second - 1) / time.Second)
}
