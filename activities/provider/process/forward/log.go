package forward

import (
	"io"
	"sync"
)

const logFull = "the log is full: nothing more is written until the proxy starts again\n"

// boundedWriter drops what does not fit: a proxy runs for months and nobody
// rotates its log.
type boundedWriter struct {
	mu   sync.Mutex
	to   io.Writer
	left int
}

func (w *boundedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.left <= 0 {
		return len(p), nil
	}
	if w.left -= len(p); w.left > 0 {
		return w.to.Write(p)
	}
	if _, err := io.WriteString(w.to, logFull); err != nil {
		return 0, err
	}
	return len(p), nil
}
