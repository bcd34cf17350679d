package child

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"example.com/fairlead/activities/addon/render"
)

// maxPart bounds each of the two parts of a message: a child that went mad does not fill the
// memory of its parent.
const maxPart = 256 << 20

var (
	errTooLong    = errors.New("a message of the renderer is too long")
	errUnexpected = errors.New("the renderer says what nobody asked: is it of another version?")
)

// message is what goes through the pipes, one field of it.
type message struct {
	// To the child.
	Request *request `json:"request,omitempty"`
	Answer  *answer  `json:"answer,omitempty"`
	// From the child.
	Question *render.Question `json:"question,omitempty"`
	Reply    *reply           `json:"reply,omitempty"`

	// Body is the archive of a request, or the set of a reply.
	Body []byte `json:"-"`
}

// request is a render.Request less what only the parent has.
type request struct {
	Release     string   `json:"release"`
	Namespace   string   `json:"namespace"`
	Values      exact    `json:"values"`
	KubeVersion string   `json:"kubeVersion"`
	APIVersions []string `json:"apiVersions"`
	OwnAPIs     bool     `json:"ownAPIs"`
	Secrets     [][]byte `json:"secrets"`
	// Lookup says that the parent answers questions.
	Lookup bool `json:"lookup"`
}

type answer struct {
	Object exact  `json:"object"`
	Error  string `json:"error,omitempty"`
}

type reply struct {
	// Asked are the questions whose answers the set is made of.
	Asked []render.Question `json:"asked,omitempty"`
	// Error is empty if there is a set, and Class is the place of its class in classes.
	Error string `json:"error,omitempty"`
	Class int    `json:"class"`
}

// send writes a message: the lengths of its two parts, and the parts.
func send(to io.Writer, m message) error {
	head, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	if len(head) > maxPart || len(m.Body) > maxPart {
		return errTooLong
	}
	start := binary.BigEndian.AppendUint32(nil, uint32(len(head)))    // #nosec G115 -- at most maxPart
	start = binary.BigEndian.AppendUint32(start, uint32(len(m.Body))) // #nosec G115 -- at most maxPart
	for _, part := range [][]byte{append(start, head...), m.Body} {
		if _, err := to.Write(part); err != nil {
			return fmt.Errorf("send a message: %w", err)
		}
	}
	return nil
}

// receive reads what send wrote. At the end between two messages it returns io.EOF.
func receive(from io.Reader) (message, error) {
	var lengths [8]byte
	if _, err := io.ReadFull(from, lengths[:]); err != nil {
		return message{}, err
	}
	head, err := part(from, binary.BigEndian.Uint32(lengths[:4]))
	if err != nil {
		return message{}, err
	}
	var m message
	if err := json.Unmarshal(head, &m); err != nil {
		return message{}, errors.New("decode a message: it is no JSON of this version") // which would quote it
	}
	m.Body, err = part(from, binary.BigEndian.Uint32(lengths[4:]))
	return m, err
}

// part takes memory for what comes only, whatever length was announced.
func part(from io.Reader, length uint32) ([]byte, error) {
	if length > maxPart {
		return nil, errTooLong
	}
	var b bytes.Buffer
	n, err := io.CopyN(&b, from, int64(length))
	if err != nil {
		return nil, fmt.Errorf("a message ends after %d of %d bytes: %w", n, length, io.ErrUnexpectedEOF)
	}
	return b.Bytes(), nil
}
