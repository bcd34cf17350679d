package lease_test

import (
	"errors"
	"time"

	"example.com/fairlead/api/lease"
)

func request(edit ...func(*lease.Request)) lease.Request {
	r := lease.Request{TTL: time.Minute, Client: "crawler"}
	for _, e := range edit {
		e(&r)
	}
	return r
}

func target(t string) func(*lease.Request)         { return func(r *lease.Request) { r.Target = t } }
func by(client string) func(*lease.Request)        { return func(r *lease.Request) { r.Client = client } }
func session(name string) func(*lease.Request)     { return func(r *lease.Request) { r.Session = name } }
func waiting(d time.Duration) func(*lease.Request) { return func(r *lease.Request) { r.Wait = d } }
func priority(n int) func(*lease.Request)          { return func(r *lease.Request) { r.Priority = n } }
func ttl(d time.Duration) func(*lease.Request)     { return func(r *lease.Request) { r.TTL = d } }
func quota(q lease.Quota) func(*lease.Request)     { return func(r *lease.Request) { r.Quota = q } }
func inRegion(region string) func(*lease.Request) {
	return func(r *lease.Request) { r.Selector = map[string]string{"region": region} }
}
func exclusive(r *lease.Request) { r.Exclusive = true }
func count(n, least int) func(*lease.Request) {
	return func(r *lease.Request) { r.Count, r.AtLeast = n, least }
}
func keyed(key, fingerprint string) func(*lease.Request) {
	return func(r *lease.Request) { r.Key, r.Fingerprint = key, fingerprint }
}

// keysOf are the names of the proxies that were granted.
func keysOf(g lease.Grant) []string {
	var names []string
	for _, l := range g.Leases {
		names = append(names, l.Proxy.Key[len("crawl/"):])
	}
	return names
}

func idsOf(leases []lease.Lease) []string {
	ids := []string{}
	for _, l := range leases {
		ids = append(ids, l.ID)
	}
	return ids
}

func candidate(name string, edit ...func(*lease.Candidate)) lease.Candidate {
	c := lease.Candidate{
		Key: "crawl/" + name, UID: "uid-" + name, Host: "10.0.0.1", Port: 3128, Scheme: "http",
		Attributes: map[string]string{"region": "eu"}, MaxLeases: 10, Healthy: true, LatencyMillis: 10,
	}
	for _, e := range edit {
		e(&c)
	}
	return c
}

func latency(ms int64) func(*lease.Candidate) {
	return func(c *lease.Candidate) { c.LatencyMillis = ms }
}
func maxLeases(n int) func(*lease.Candidate) { return func(c *lease.Candidate) { c.MaxLeases = n } }
func region(r string) func(*lease.Candidate) {
	return func(c *lease.Candidate) { c.Attributes = map[string]string{"region": r} }
}
func unhealthy(c *lease.Candidate) { c.Healthy = false }
func draining(c *lease.Candidate)  { c.Draining = true }
func host(address string) func(*lease.Candidate) {
	return func(c *lease.Candidate) { c.Host = address }
}
func version(n int64) func(*lease.Candidate) { return func(c *lease.Candidate) { c.Version = n } }
func banLimit(n int, within time.Duration) func(*lease.Candidate) {
	return func(c *lease.Candidate) { c.Bans = lease.BanLimit{Count: n, Window: within} }
}

func asError[E error](err error, as *E) bool { return errors.As(err, as) }
