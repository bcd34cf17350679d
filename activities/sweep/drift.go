package sweep

import (
	"example.com/fairlead/activities/provider"
	"example.com/fairlead/api/crawl/ref"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// drifted are the Proxies at rest whose instance is not as their status says. It is
// a hint: their workflows look for themselves.
func (v view) drifted() []wire.ProxyRef {
	var refs []wire.ProxyRef
	instances, hidden := v.instances(), v.hidden()
	for _, p := range v.managed() {
		entry := v.current(p)
		if entry == nil || !steady(p, wire.ReasonCreated, wire.ReasonSameAddress, wire.ReasonCloudInit, wire.ReasonCredentials) {
			continue
		}
		inst := instances[provider.ID{Place: entry.Place, Name: entry.Name}]
		missing := inst == nil && !hidden(entry.Place) && v.reaches(p, entry.Place)
		if missing || inst != nil && !asTold(p, inst) {
			refs = append(refs, ref.Of(p))
		}
	}
	return refs
}

// asTold says whether an instance is what the status of its Proxy says. Its workflow
// knows an instance by place and name: another incarnation, as after a backup was
// restored, is nothing that it would act on.
func asTold(p *crawl.Proxy, inst *provider.Instance) bool {
	return inst.State == provider.Running &&
		inst.Host == p.Status.IP && inst.Port == p.Status.Port
}
