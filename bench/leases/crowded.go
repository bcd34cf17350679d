package main

import (
	"cmp"
	"slices"
)

// crowded finds a proxy that had more leases at a time than it may, or an exclusive one
// beside another. It counts a lease only while it was there in any case.
func crowded(grants []*grant, capacity map[string]int) *violation {
	byProxy := map[string][]*grant{}
	for _, g := range grants {
		if from, to := g.alive(); from < to {
			byProxy[g.pair.proxy] = append(byProxy[g.pair.proxy], g)
		}
	}
	for proxy, all := range byProxy {
		if v := crowdedProxy(proxy, all, capacity[proxy]); v != nil {
			return v
		}
	}
	return nil
}

func crowdedProxy(proxy string, grants []*grant, capacity int) *violation {
	slices.SortFunc(grants, func(a, b *grant) int { return cmp.Compare(a.got, b.got) })
	var there []*grant
	for _, g := range grants {
		there = slices.DeleteFunc(there, func(o *grant) bool {
			_, to := o.alive()
			return to <= g.got
		})
		there = append(there, g)
		if len(there) > capacity {
			return breaks(grantedTwice, "%s may have %d leases, and had %d at %s:%s", proxy, capacity, len(there), seconds(g.got), list(there))
		}
		if len(there) > 1 && slices.ContainsFunc(there, func(o *grant) bool { return o.exclusive }) {
			return breaks(grantedTwice, "%s had an exclusive lease and another at %s:%s", proxy, seconds(g.got), list(there))
		}
	}
	return nil
}

func list[T interface{ String() string }](all []T) string {
	text := ""
	for _, one := range all {
		text += "\n  " + one.String()
	}
	return text
}
