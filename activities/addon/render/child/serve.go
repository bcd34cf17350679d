package child

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log"
	"runtime/debug"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/render"
)

// maxStack in bytes: far more than the 1,000 levels take that Helm allows, and full before
// what a level holds has filled the memory.
const maxStack = 32 << 20

// Serve renders what a Renderer asks for through the pipes, and returns when in ends, whatever
// it renders. It is all that its process does: it bounds the stacks of the process, and
// silences its log, in which Helm quotes values.
func Serve(in io.Reader, out io.Writer) error {
	debug.SetMaxStack(maxStack)
	log.SetOutput(io.Discard)
	buffered := bufio.NewReader(in)
	s := &server{out: out, answers: make(chan *answer, 1)}
	for {
		m, err := receive(buffered)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case m.Request != nil:
			// A template that loops must not keep this from seeing the end of in.
			go s.serve(*m.Request, m.Body)
		case m.Answer != nil:
			s.answers <- m.Answer
		}
	}
}

type server struct {
	out     io.Writer
	answers chan *answer
}

// serve replies to a request. If the reply cannot be sent, the parent is gone, and in ends.
func (s *server) serve(r request, archive []byte) {
	set, asked, err := s.render(r, archive)
	out := message{Reply: &reply{Asked: asked}, Body: set}
	if err != nil {
		out.Reply.Error, out.Reply.Class = err.Error(), classOf(err)
	}
	if err := send(s.out, out); errors.Is(err, errTooLong) {
		out.Body, out.Reply.Error = nil, "what the chart makes is too long: "+err.Error()
		_ = send(s.out, out)
	}
}

func (s *server) render(r request, archive []byte) ([]byte, []render.Question, error) {
	source, err := render.Archive(archive)
	if err != nil {
		return nil, nil, err
	}
	req := render.Request{
		Release: r.Release, Namespace: r.Namespace, Values: r.Values, OwnAPIs: r.OwnAPIs, Secrets: r.Secrets,
		Capabilities: render.Capabilities{KubeVersion: r.KubeVersion, APIVersions: r.APIVersions},
		Hash:         func([]byte) string { return "" }, // the key stays with the parent
	}
	if r.Lookup {
		req.Lookup = s.lookup
	}
	result, err := render.Chart(context.Background(), source, req)
	if err != nil {
		return nil, nil, err
	}
	set, err := result.Set()
	if err != nil {
		return nil, nil, err
	}
	encoded, err := manifest.Encode(set)
	if err != nil {
		return nil, nil, err
	}
	asked := make([]render.Question, 0, len(result.Answers))
	for _, a := range result.Answers {
		asked = append(asked, a.Question)
	}
	return encoded, asked, nil
}

// lookup asks the parent.
func (s *server) lookup(_ context.Context, q render.Question) (map[string]any, error) {
	if err := send(s.out, message{Question: &q}); err != nil {
		return nil, err
	}
	a := <-s.answers
	if a.Error != "" {
		return nil, errors.New(a.Error)
	}
	return a.Object, nil
}
