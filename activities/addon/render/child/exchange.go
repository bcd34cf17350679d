package child

import (
	"context"
	"fmt"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/render"
)

// exchange is one render by a child.
type exchange struct {
	process *process
	req     render.Request
	// answers that the child got, by question.
	answers map[render.Question]render.Answer
	reply   *reply
	set     []byte
}

// render asks the child, and answers what it asks, until it replies.
func (e *exchange) render(ctx context.Context, archive []byte) error {
	e.answers = map[render.Question]render.Answer{}
	err := send(e.process.stdin, message{Body: archive, Request: &request{
		Release: e.req.Release, Namespace: e.req.Namespace, Values: e.req.Values, OwnAPIs: e.req.OwnAPIs, Secrets: e.req.Secrets,
		KubeVersion: e.req.KubeVersion, APIVersions: e.req.APIVersions, Lookup: e.req.Lookup != nil,
	}})
	for err == nil && e.reply == nil {
		err = e.step(ctx)
	}
	return err
}

func (e *exchange) step(ctx context.Context) error {
	m, err := receive(e.process.out)
	switch {
	case err != nil:
		return err
	case m.Question != nil && e.req.Lookup != nil:
		return send(e.process.stdin, message{Answer: e.answer(ctx, *m.Question)})
	case m.Reply != nil:
		e.reply, e.set = m.Reply, m.Body
		return nil
	}
	return errUnexpected
}

// answer is what a template is told, which fails if the lookup does.
func (e *exchange) answer(ctx context.Context, q render.Question) *answer {
	object, err := e.req.Lookup(ctx, q)
	if err != nil {
		return &answer{Error: err.Error()}
	}
	answered := render.Request{Hash: e.req.Hash, Lookup: func(context.Context, render.Question) (map[string]any, error) { return object, nil }}
	if e.answers[q], err = answered.Ask(ctx, q); err != nil {
		return &answer{Error: err.Error()}
	}
	return &answer{Object: object}
}

// result is what came of it, once the child replied. Its answers are those that the set is
// made of: a chart that takes no integers is rendered, and asks, twice.
func (e *exchange) result() (manifest.Set, []render.Answer, error) {
	if e.reply.Error != "" {
		return manifest.Set{}, nil, toldBy(e.reply)
	}
	set, err := manifest.Decode(e.set)
	if err != nil {
		return manifest.Set{}, nil, err
	}
	var answers []render.Answer
	for _, q := range e.reply.Asked {
		a, ok := e.answers[q]
		if !ok {
			return manifest.Set{}, nil, fmt.Errorf("render the chart for release %s: %w", e.req.Release, errUnexpected)
		}
		answers = append(answers, a)
	}
	return set, answers, nil
}
