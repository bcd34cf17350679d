// Package ref names Proxies as workflow histories do: the API types and the words of
// histories do not know each other.
package ref

import (
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// Of is what histories call p.
func Of(p *crawl.Proxy) wire.ProxyRef {
	return wire.ProxyRef{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID)}
}
