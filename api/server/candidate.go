package server

import (
	"strings"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/lease"
	"example.com/fairlead/temporal/wire"
)

// candidateOf is what the engine has to know of p.
func candidateOf(p *crawl.Proxy) lease.Candidate {
	host, port := addressOf(p)
	bans, window := p.BanLimit()
	return lease.Candidate{
		Key: p.Namespace + "/" + p.Name, UID: string(p.UID), Version: p.Status.Sequence,
		Host: host, Port: port, Scheme: string(p.Scheme()),
		Attributes: p.Spec.Attributes, MaxLeases: maxLeasesOf(p),
		Healthy: serving(p), Draining: draining(p), LatencyMillis: p.Status.LatencyMillis,
		Bans: lease.BanLimit{Count: bans, Window: window},
	}
}

// refOf is the proxy that c stands for.
func refOf(c lease.Candidate) wire.ProxyRef {
	namespace, name, _ := strings.Cut(c.Key, "/")
	return wire.ProxyRef{Namespace: namespace, Name: name, UID: c.UID}
}

// serving says whether clients of p get through. One that drains is not Ready, but
// serves those that have it.
func serving(p *crawl.Proxy) bool {
	host, _ := addressOf(p)
	condition := crawl.ConditionReady
	if draining(p) {
		condition = crawl.ConditionHealthy
	}
	return host != "" && p.Status.IsTrue(condition)
}

func draining(p *crawl.Proxy) bool { return p.Status.Phase == crawl.PhaseDraining }

// lendable says whether new leases of p may be granted.
func lendable(p *crawl.Proxy) bool {
	return serving(p) && !draining(p) && p.DeletionTimestamp.IsZero()
}

// addressOf is where clients of p connect to.
func addressOf(p *crawl.Proxy) (string, int32) {
	if p.Status.Port == 0 {
		return p.Status.IP, crawl.DefaultPort
	}
	return p.Status.IP, p.Status.Port
}

// defaultMaxLeases is the CRD's, for objects that were written before it had one.
const defaultMaxLeases = 10

func maxLeasesOf(p *crawl.Proxy) int {
	if p.Spec.MaxLeases == 0 {
		return defaultMaxLeases
	}
	return int(p.Spec.MaxLeases)
}
