package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kuberest "k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/kube"
)

const (
	kubeNamespace = "chaos"
	// loadProxies are lent to crawlers.
	loadProxies = 48
	// probeProxy is for measuring only.
	probeProxy = "probe"

	attrPool   = "pool"
	attrRegion = "region"
	// attrOnly is the name of the proxy.
	attrOnly = "only"
	poolLoad = "load"
)

var (
	regions = []string{"eu", "us", "asia"}
	targets = []string{"a.example", "b.example", "c.example", "d.example", "e.example", "f.example", "g.example", "h.example"}
)

func loadProxy(i int) string { return fmt.Sprintf("load-%02d", i) }

func recordedProxy(era, i int) string { return fmt.Sprintf("recorded-%02d-%d", era, i) }

// loadCapacity is how many leases may share one.
func loadCapacity(i int) int { return 1 + i%2 }

// capacities of the proxies that are lent to crawlers.
func capacities() map[string]int {
	all := map[string]int{}
	for i := range loadProxies {
		all[loadProxy(i)] = loadCapacity(i)
	}
	return all
}

// makeFleet makes the proxies, with the recorded ones of so many eras. They are others'
// and always well, which is said here as nobody probes them.
func makeFleet(ctx context.Context, config *kuberest.Config, eras int) error {
	scheme, err := kube.Scheme()
	if err != nil {
		return err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("set up the client of the Kubernetes API: %w", err)
	}
	if err := c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: kubeNamespace}}); err != nil {
		return fmt.Errorf("create the namespace: %w", err)
	}
	fleet := []*crawl.Proxy{newProxy(probeProxy, 100_000, nil)}
	for i := range loadProxies {
		fleet = append(fleet, newProxy(loadProxy(i), loadCapacity(i), map[string]string{attrPool: poolLoad, attrRegion: regions[i/2%len(regions)]}))
	}
	for era := range eras {
		for i := range eraProxies {
			fleet = append(fleet, newProxy(recordedProxy(era, i), 1, nil))
		}
	}
	for i, p := range fleet {
		if err := makeProxy(ctx, c, p, i); err != nil {
			return fmt.Errorf("make Proxy %s: %w", p.Name, err)
		}
	}
	return nil
}

func newProxy(name string, capacity int, attributes map[string]string) *crawl.Proxy {
	all := map[string]string{attrOnly: name}
	for k, v := range attributes {
		all[k] = v
	}
	return &crawl.Proxy{
		ObjectMeta: metav1.ObjectMeta{Namespace: kubeNamespace, Name: name},
		Spec: crawl.ProxySpec{
			Mode: crawl.ModeExternal, Endpoint: &crawl.Endpoint{Host: "192.0.2.1", Port: 3128},
			Attributes: all, MaxLeases: int32(capacity), // #nosec G115 -- a small constant
		},
	}
}

func makeProxy(ctx context.Context, c client.Client, p *crawl.Proxy, i int) error {
	if err := c.Create(ctx, p); err != nil {
		return err
	}
	p.Status = crawl.ProxyStatus{
		Phase: crawl.PhaseReady, Sequence: 1, ObservedGeneration: p.Generation,
		IP: p.Spec.Endpoint.Host, Port: int32(3000 + i), LatencyMillis: 5, // #nosec G115 -- a small number
	}
	for _, kind := range []string{crawl.ConditionProvisioned, crawl.ConditionHealthy, crawl.ConditionReady} {
		p.Status.Conditions = append(p.Status.Conditions, metav1.Condition{
			Type: kind, Status: metav1.ConditionTrue, Reason: "Seeded", LastTransitionTime: metav1.Now(),
		})
	}
	return c.Status().Update(ctx, p)
}
