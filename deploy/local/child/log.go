package child

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	tailBytes = 16 << 10
	tailLines = 8
)

// ExitError is the end of a child that nobody asked for.
type ExitError struct {
	// Name of the child.
	Name string
	// LogFile holds all that the child said.
	LogFile string
	// Cause is how it ended; nil means exit status 0.
	Cause error
	// Tail is the last lines of the log, as a person reads them.
	Tail []string
}

// Error names the child, how it ended, its log file and the last lines of it.
func (e *ExitError) Error() string {
	how := "exit status 0"
	if e.Cause != nil {
		how = e.Cause.Error()
	}
	if len(e.Tail) == 0 {
		return fmt.Sprintf("%s ended unexpectedly (%s) and said nothing (log %s)", e.Name, how, e.LogFile)
	}
	return fmt.Sprintf("%s ended unexpectedly (%s); the log %s ends:\n  %s",
		e.Name, how, e.LogFile, strings.Join(e.Tail, "\n  "))
}

// Unwrap gives the error of the process itself.
func (e *ExitError) Unwrap() error { return e.Cause }

// openLog starts a new log; the one of the run before stays as .1.
func openLog(path string) (*os.File, error) {
	if err := os.Rename(path, path+".1"); err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("keep former log: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND|os.O_TRUNC, 0o600) // #nosec G304 -- a path of the state directory
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return f, nil
}

// tail gives the last lines of a log; a log that cannot be read has none.
func tail(path string) []string {
	f, err := os.Open(path) // #nosec G304 -- a path of the state directory
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	cut := false
	if info, err := f.Stat(); err == nil && info.Size() > tailBytes {
		if _, err := f.Seek(-tailBytes, io.SeekEnd); err != nil {
			return nil
		}
		cut = true
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return nil
	}
	text := strings.TrimSpace(string(data))
	if _, whole, ok := strings.Cut(text, "\n"); cut && ok {
		text = whole // the first line lacks its beginning
	}
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	for i, line := range lines {
		lines[i] = readable(line)
	}
	return lines
}

// readable is a line of a log without what only machines want: of a JSON line it
// keeps level, message and error.
func readable(line string) string {
	var said struct {
		Level, Msg string
		Error      any
	}
	if err := json.Unmarshal([]byte(line), &said); err != nil || said.Msg == "" {
		return line
	}
	text := said.Msg
	if said.Level != "" {
		text = strings.ToLower(said.Level) + ": " + text
	}
	if said.Error != nil {
		text += fmt.Sprintf(": %v", said.Error)
	}
	return text
}
