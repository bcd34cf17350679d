package main

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/fairlead/internal/eventually"
)

// output is what the program said so far.
type output struct {
	mu    sync.Mutex
	text  bytes.Buffer
	once  sync.Once
	ready chan struct{} // closed when it said that it is ready
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.text.Write(p)
	if bytes.Contains(o.text.Bytes(), []byte("Ctrl-C ends it.")) {
		o.once.Do(func() { close(o.ready) })
	}
	return n, err
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// says waits until the output has the words.
func (o *output) says(t *testing.T, words string) {
	t.Helper()
	eventually.Sees(t, "it says: "+words, time.Minute, func() (bool, string) {
		text := o.String()
		return strings.Contains(text, words), text
	})
}
