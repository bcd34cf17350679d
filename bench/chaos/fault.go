package main

import (
	"strconv"
	"strings"
	"time"

	"example.com/fairlead/bench/internal/dice"
)

// fault is what goes wrong with one call to the provider.
type fault string

const (
	faultNone      fault = ""
	faultCrash     fault = "the worker dies after it"
	faultReplyLost fault = "done, but the reply is lost"
	faultLandsLate fault = "the attempt is lost and lands late"
	faultSlow      fault = "slow"
	faultBusy      fault = "busy"
	faultQuota     fault = "quota exceeded"
	faultPermanent fault = "permanent failure"
	faultRefused   fault = "refused, nothing done"
	faultNotFound  fault = "not found, though it is there"
	faultForgotten fault = "accepted, and never done"
	faultPartial   fault = "a partial list"
	faultStale     fault = "a stale list"
	// faultHalted is not drawn by a call: the provider tells of it after a reboot.
	faultHalted fault = "halted, its machine was rebooted"
)

// allFaults must each have come up at the end of a run of some length.
var allFaults = []fault{
	faultCrash, faultReplyLost, faultLandsLate, faultSlow, faultBusy, faultQuota, faultPermanent, faultRefused,
	faultNotFound, faultForgotten, faultPartial, faultStale, faultHalted,
}

// method is a method of the provider.
type method string

const (
	methodCreate method = "Create"
	methodGet    method = "Get"
	methodDelete method = "Delete"
	methodDisown method = "Disown"
	methodList   method = "List"
)

// faultyCalls is how many calls of a life may fail, of each method: then the
// backend is in order, or nothing would ever be proved of the end.
var faultyCalls = map[method]int{methodCreate: 6, methodGet: 40, methodDelete: 10, methodDisown: 3, methodList: 1 << 30}

// An attempt whose end is not known keeps its instance in the ledger for a minute
// and a half. Each lifecycle has at most one by its script, or it would only ever wait.
var lostAttempts = []weighted[fault]{{20, faultReplyLost}, {24, faultLandsLate}, {12, faultBusy}, {12, faultRefused}, {3, faultCrash}}

// sureFaults befall the first Create of the first lifecycles, one after the other, so
// that what is drawn seldom comes up in a short run too.
var sureFaults = []fault{faultReplyLost, faultLandsLate, faultBusy, faultRefused, faultCrash, faultQuota, faultPermanent}

const surelyFaulty = 35

// lostAttempt says which Create of which life that is, and what becomes of it.
func lostAttempt(seed uint64, lifecycle string) (who string, n int, f fault) {
	if n, err := strconv.Atoi(lifecycle); err == nil && n <= surelyFaulty {
		return lifecycle + ".1", 0, sureFaults[n%len(sureFaults)]
	}
	d := dice.New(seed, "lost attempt", lifecycle)
	if !d.Chance(45) {
		return "", 0, faultNone
	}
	who = lifecycle + draw(d, []weighted[string]{{80, ".1"}, {20, ".2"}})
	return who, draw(d, []weighted[int]{{60, 0}, {25, 1}, {15, 2}}), draw(d, lostAttempts)
}

var otherFaults = map[method][]weighted[fault]{
	methodCreate: {{76, faultNone}, {12, faultSlow}, {7, faultQuota}, {5, faultPermanent}},
	methodGet:    {{90, faultNone}, {4, faultRefused}, {3, faultSlow}, {3, faultNotFound}},
	methodDelete: {{69, faultNone}, {6, faultReplyLost}, {6, faultLandsLate}, {6, faultSlow}, {6, faultRefused}, {3, faultBusy}, {4, faultForgotten}},
	methodDisown: {{85, faultNone}, {10, faultRefused}, {5, faultReplyLost}},
	methodList:   {{70, faultNone}, {15, faultPartial}, {15, faultStale}},
}

// faultOf is what goes wrong with the nth call of a method, counted from 0, for the
// life who.
func faultOf(seed uint64, who string, m method, n int) fault {
	if n >= faultyCalls[m] {
		return faultNone
	}
	if m == methodCreate {
		lifecycle, _, _ := strings.Cut(who, ".")
		if life, at, f := lostAttempt(seed, lifecycle); life == who && at == n {
			return f
		}
	}
	f := drawFault(seed, who, m, n)
	if f == faultNotFound && drawFault(seed, who, m, n-1) == faultNotFound {
		return faultNone // twice in a row would be the truth
	}
	return f
}

func drawFault(seed uint64, who string, m method, n int) fault {
	return draw(dice.New(seed, "fault", who, m, n), otherFaults[m])
}

// delayOf is how long the slow and the late take.
func delayOf(seed uint64, who string, m method, n int) time.Duration {
	d := dice.New(seed, "delay", who, m, n)
	if m == methodCreate && d.Chance(40) {
		return d.Between(5*time.Second, 55*time.Second)
	}
	return d.Between(100*time.Millisecond, 5*time.Second)
}
