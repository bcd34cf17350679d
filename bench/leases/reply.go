package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// reply is what became of a request.
type reply struct {
	span // got is never when it is not known whether it was done

	// status is 0 without an answer.
	status   int
	word     string // of a refusal
	body     []byte
	replayed bool
	// void: nothing was done.
	void bool
	// doubtful: an earlier attempt of the same request may have been done too.
	doubtful bool
	// err is why there is no answer.
	err error
}

// errorAnswer is the one shape of refusals.
type errorAnswer struct {
	Error   string `json:"error"`
	Message string `json:"message"`
}

// answered makes the reply of an answer that was read completely.
func answered(s span, status int, header http.Header, body []byte) reply {
	r := reply{span: s, status: status, body: body, replayed: header.Get("Idempotency-Replayed") != ""}
	if status < http.StatusBadRequest {
		return r
	}
	var why errorAnswer
	if err := json.Unmarshal(body, &why); err != nil || why.Error == "" {
		r.err = fmt.Errorf("status %d without a word: %q", status, body)
		r.got = never
		return r
	}
	r.word = why.Error
	if status < http.StatusInternalServerError {
		return r
	}
	r.err = fmt.Errorf("status %d: %s: %s", status, why.Error, why.Message)
	if r.word == "no_leader" { // it says that nothing was done
		r.void = true
	} else {
		r.got = never
	}
	return r
}

// unanswered makes the reply of a request that failed. One whose connection was never
// there was not sent.
func unanswered(s span, err error) reply {
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return reply{span: s, void: true, err: err}
	}
	return reply{span: span{s.sent, never}, err: err}
}

// known says whether the request was answered.
func (r reply) known() bool { return r.err == nil }

// doubt says whether the request may have been done although nobody was told so.
func (r reply) doubt() bool { return r.doubtful || !r.known() && !r.void }

func (r reply) is(status int) bool { return r.known() && r.status == status }

func (r reply) refused(word string) bool { return r.known() && r.word == word }

func (r reply) decode(into any) error {
	if err := json.Unmarshal(r.body, into); err != nil {
		return fmt.Errorf("read the answer %q: %w", r.body, err)
	}
	return nil
}

// String is the reply as a person reads it.
func (r reply) String() string {
	at := fmt.Sprintf("sent at %s, answered at %s", seconds(r.sent), seconds(r.got))
	if !r.known() {
		return fmt.Sprintf("no answer (%v), %s", r.err, at)
	}
	const most = 300
	return fmt.Sprintf("status %d %.*q, %s", r.status, most, r.body, at)
}

// Bodies of requests and answers.
type (
	acquireBody struct {
		Selector    map[string]string `json:"selector,omitempty"`
		TTLSeconds  int               `json:"ttlSeconds,omitempty"`
		Target      string            `json:"target,omitempty"`
		Exclusive   bool              `json:"exclusive,omitempty"`
		Session     string            `json:"session,omitempty"`
		Count       int               `json:"count,omitempty"`
		AtLeast     int               `json:"atLeast,omitempty"`
		WaitSeconds int               `json:"waitSeconds,omitempty"`
		Priority    int               `json:"priority,omitempty"`
	}
	leaseAnswer struct {
		LeaseID string `json:"leaseID"`
		Proxy   struct {
			Name string `json:"name"`
		} `json:"proxy"`
		TTLSeconds   int    `json:"ttlSeconds"`
		Exclusive    bool   `json:"exclusive"`
		Trial        bool   `json:"trial"`
		SessionMoved string `json:"sessionMoved"`
	}
	listAnswer struct {
		Leases []leaseAnswer `json:"leases"`
	}
	renewBody struct {
		TTLSeconds int `json:"ttlSeconds,omitempty"`
	}
	reportBody struct {
		Result            string `json:"result"`
		Target            string `json:"target,omitempty"`
		RetryAfterSeconds int    `json:"retryAfterSeconds,omitempty"`
	}
	restBody struct {
		Target  string `json:"target"`
		Seconds int    `json:"seconds"`
	}
	cooldownsAnswer struct {
		Cooldowns []struct {
			Target  string `json:"target"`
			Result  string `json:"result"`
			Strikes int    `json:"strikes"`
		} `json:"cooldowns"`
	}
)

// bounds are how many leases a request may get.
func (b acquireBody) bounds() (least, most int) {
	most = max(b.Count, 1)
	return cmp.Or(b.AtLeast, most), most
}

// leases of a 201, be it one or a list.
func (r reply) leases(body acquireBody) ([]leaseAnswer, error) {
	if body.Count > 0 {
		var all listAnswer
		err := r.decode(&all)
		return all.Leases, err
	}
	one := make([]leaseAnswer, 1)
	err := r.decode(&one[0])
	return one, err
}

func secondsOf(n int) time.Duration { return time.Duration(n) * time.Second }
