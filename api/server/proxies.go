package server

import (
	"errors"
	"net/http"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/lease"
)

// proxyView is what lists tell of a proxy: never its credentials.
type proxyView struct {
	Namespace     string            `json:"namespace"`
	Name          string            `json:"name"`
	Mode          crawl.Mode        `json:"mode"`
	Provider      string            `json:"provider,omitempty"`
	Phase         crawl.Phase       `json:"phase"`
	Reason        string            `json:"reason,omitempty"`
	Healthy       bool              `json:"healthy"`
	Lendable      bool              `json:"lendable"`
	Scheme        crawl.Scheme      `json:"scheme"`
	Host          string            `json:"host"`
	Port          int32             `json:"port"`
	Attributes    map[string]string `json:"attributes"`
	LatencyMillis int64             `json:"latencyMillis"`
	ExitIP        string            `json:"exitIP,omitempty"`
	ActiveLeases  int               `json:"activeLeases"`
	MaxLeases     int               `json:"maxLeases"`
}

type proxyList struct {
	Proxies []proxyView `json:"proxies"`
	Count   int         `json:"count"`
}

// proxyDetails are what is told of one proxy alone.
type proxyDetails struct {
	proxyView

	Cooldowns []cooldownView `json:"cooldowns"`
	// Bans that were reported of its address lately.
	Bans int `json:"bans"`
}

func viewOf(p *crawl.Proxy, active int) proxyView {
	host, port := addressOf(p)
	v := proxyView{
		Namespace: p.Namespace, Name: p.Name, Mode: p.Spec.Mode, Provider: p.Spec.Provider, Phase: p.Status.Phase,
		Healthy: p.Status.IsTrue(crawl.ConditionHealthy), Lendable: lendable(p),
		Scheme: p.Scheme(), Host: host, Port: port, Attributes: attributesOf(p.Spec.Attributes),
		LatencyMillis: p.Status.LatencyMillis, ExitIP: p.Status.ExitIP,
		ActiveLeases: active, MaxLeases: maxLeasesOf(p),
	}
	if c := p.Status.Condition(crawl.ConditionReady); c != nil {
		v.Reason = c.Reason
	}
	return v
}

// attributesOf is never null in JSON.
func attributesOf(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

func (s *server) listProxies(w http.ResponseWriter, r *http.Request, e *lease.Engine) {
	want, err := parseFilter(r.URL.Query())
	proxies := s.fleet.sorted() // before the counts: no object is newer than they are
	var counts map[string]int
	if err == nil {
		counts, err = e.Counts(r.Context())
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	list := proxyList{Proxies: []proxyView{}}
	for _, p := range proxies {
		if want.matches(p) {
			list.Proxies = append(list.Proxies, viewOf(p, counts[string(p.UID)]))
		}
	}
	list.Count = len(list.Proxies)
	answer(w, r, http.StatusOK, list)
}

func (s *server) getProxy(w http.ResponseWriter, r *http.Request, e *lease.Engine) {
	namespace, name := pathPart(r, "namespace"), pathPart(r, "name")
	p := s.fleet.named(namespace, name)
	if p == nil {
		unknownProxy(w, r, namespace, name)
		return
	}
	facts, err := e.Facts(r.Context(), string(p.UID))
	if err != nil && !errors.Is(err, lease.ErrUnknownProxy) { // one that is being deleted is lent no more
		s.fail(w, r, err)
		return
	}
	view := proxyDetails{proxyView: viewOf(p, facts.Active), Cooldowns: []cooldownView{}, Bans: facts.Bans}
	for _, c := range facts.Cooldowns {
		view.Cooldowns = append(view.Cooldowns, cooldownOf(c))
	}
	answer(w, r, http.StatusOK, view)
}

func unknownProxy(w http.ResponseWriter, r *http.Request, namespace, name string) {
	refuse(w, r, http.StatusNotFound, "unknown_proxy", "there is no proxy "+namespace+"/"+name+": GET /v1/proxies lists them")
}
