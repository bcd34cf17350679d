package render_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/fairlead/activities/addon/render"
)

// cluster answers from its objects, and remembers what it was asked.
type cluster struct {
	objects map[render.Question]map[string]any
	err     error
	asked   []render.Question
}

func (c *cluster) lookup(_ context.Context, q render.Question) (map[string]any, error) {
	c.asked = append(c.asked, q)
	return c.objects[q], c.err
}

var (
	known  = render.Question{APIVersion: "v1", Kind: "Secret", Namespace: "trade", Name: "known"}
	nodes  = render.Question{APIVersion: "v1", Kind: "Node"}
	absent = render.Question{APIVersion: "v1", Kind: "Secret", Namespace: "elsewhere", Name: "absent"}
)

// hash is what tests tell contents apart by.
func hash(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

func newCluster(password string) *cluster {
	return &cluster{objects: map[render.Question]map[string]any{
		known: {"kind": "Secret", "data": map[string]any{"password": password}},
		nodes: {"kind": "NodeList", "items": []any{map[string]any{"kind": "Node"}, map[string]any{"kind": "Node"}}},
	}}
}

func TestTemplatesLookUpWhatTheCallerAnswers(t *testing.T) {
	c := newCluster("c2VjcmV0")
	result, err := chartOf(t, "looks", func(r *render.Request) { r.Lookup, r.Hash = c.lookup, hash })
	if err != nil {
		t.Fatal(err)
	}
	text := result.Text(false)
	for _, want := range []string{"password: c2VjcmV0\n", "count: \"2\"\n", `again: "{\"data\":{\"password\":\"c2VjcmV0\"}`, "env: \"{}\"\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if diff := cmp.Diff([]render.Question{known, nodes, absent}, c.asked); diff != "" {
		t.Errorf("asked, each once (-want +got):\n%s", diff)
	}
	want := []render.Answer{{Question: nodes}, {Question: absent}, {Question: known}}
	if diff := cmp.Diff(want, result.Answers, cmpopts.IgnoreFields(render.Answer{}, "Digest")); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if a := result.Answers; a[0].Digest == "" || a[1].Digest != "" || a[2].Digest == "" {
		t.Errorf("digests of two lists and of what is absent: %v", a)
	}
}

func TestAnswersTellContentsApart(t *testing.T) {
	digest := func(password, prefix string) string {
		result, err := chartOf(t, "looks", func(r *render.Request) {
			r.Lookup, r.Hash = newCluster(password).lookup, func(b []byte) string { return prefix + hash(b) }
		})
		if err != nil {
			t.Fatal(err)
		}
		return result.Answers[2].Digest
	}
	first := digest("YQ==", "")
	if again := digest("YQ==", ""); again != first {
		t.Error("the same answer has two digests")
	}
	if digest("Yg==", "") == first {
		t.Error("two answers have one digest")
	}
	if got := digest("YQ==", "keyed-"); got != "keyed-"+first {
		t.Errorf("the digest is %s, not what Hash says: the answer could be guessed from it", got)
	}
}

func TestWhoAsksAgainIsToldWhetherAnAnswerMoved(t *testing.T) {
	c := newCluster("YQ==")
	req := render.Request{Lookup: c.lookup, Hash: hash}
	result, err := chartOf(t, "looks", func(r *render.Request) { r.Lookup, r.Hash = c.lookup, hash })
	if err != nil {
		t.Fatal(err)
	}
	again := func() (now []render.Answer) {
		for _, before := range result.Answers {
			answer, err := req.Ask(t.Context(), before.Question)
			if err != nil {
				t.Fatal(err)
			}
			now = append(now, answer)
		}
		return now
	}
	if diff := cmp.Diff(result.Answers, again()); diff != "" {
		t.Errorf("nothing moved (-rendered +asked):\n%s", diff)
	}
	c.objects[known]["data"] = map[string]any{"password": "Yg=="}
	delete(c.objects, nodes)
	c.objects[absent] = map[string]any{"kind": "Secret"}
	for i, now := range again() {
		if now == result.Answers[i] {
			t.Errorf("%v moved, and has the same answer", now.Question)
		}
	}
	c.err = errors.New("forbidden")
	if _, err := req.Ask(t.Context(), known); !errors.Is(err, c.err) {
		t.Errorf("what cannot be read gave %v", err)
	}
}

func TestAnswersAreTheSameWhenTheirBookkeepingMoves(t *testing.T) {
	digests := func(version, uid string) []string {
		c := newCluster("YQ==")
		metadata := func() map[string]any {
			return map[string]any{"uid": uid, "resourceVersion": version, "generation": version, "managedFields": []any{version}}
		}
		c.objects[known]["metadata"] = metadata()
		c.objects[nodes]["metadata"] = map[string]any{"resourceVersion": version}
		for _, item := range c.objects[nodes]["items"].([]any) {
			item.(map[string]any)["metadata"] = metadata()
		}
		result, err := chartOf(t, "looks", func(r *render.Request) { r.Lookup, r.Hash = c.lookup, hash })
		if err != nil {
			t.Fatal(err)
		}
		if c.objects[known]["metadata"].(map[string]any)["resourceVersion"] != version {
			t.Error("the object that was looked up is changed")
		}
		return []string{result.Answers[0].Digest, result.Answers[2].Digest}
	}
	before := digests("1", "a")
	if diff := cmp.Diff(before, digests("2", "a")); diff != "" {
		t.Errorf("after a write that changes nothing (-before +after):\n%s", diff)
	}
	for i, digest := range digests("1", "b") {
		if digest == before[i] {
			t.Error("another object of the name has the same digest")
		}
	}
}

func TestLookupNeedsAHash(t *testing.T) {
	_, err := chartOf(t, "looks", func(r *render.Request) { r.Lookup = newCluster("YQ==").lookup })
	if err == nil || !strings.Contains(err.Error(), "Hash") {
		t.Errorf("got error %v, want one that asks for a Hash", err)
	}
}

func TestALookupThatFailsFailsTheRender(t *testing.T) {
	c := &cluster{err: errors.New("forbidden")}
	_, err := chartOf(t, "looks", func(r *render.Request) { r.Lookup, r.Hash = c.lookup, hash })
	if err == nil || !strings.Contains(err.Error(), "trade/known") || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("got error %v, want one that names the object and the reason", err)
	}
}
