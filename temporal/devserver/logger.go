package main

import (
	"context"
	"log/slog"
	"os"

	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
)

// newLogger sends the server's log to standard error.
func newLogger(o options) log.Logger {
	handler := &slog.HandlerOptions{Level: o.LogLevel}
	if o.LogJSON {
		return logger{slog.New(slog.NewJSONHandler(os.Stderr, handler))}
	}
	return logger{slog.New(slog.NewTextHandler(os.Stderr, handler))}
}

type logger struct{ log *slog.Logger }

func (l logger) Debug(msg string, tags ...tag.Tag) { l.put(slog.LevelDebug, msg, tags) }
func (l logger) Info(msg string, tags ...tag.Tag)  { l.put(slog.LevelInfo, msg, tags) }
func (l logger) Warn(msg string, tags ...tag.Tag)  { l.put(slog.LevelWarn, msg, tags) }
func (l logger) Error(msg string, tags ...tag.Tag) { l.put(slog.LevelError, msg, tags) }

// DPanic, Panic and Fatal keep their contract: the server relies on not going on.
func (l logger) DPanic(msg string, tags ...tag.Tag) { l.put(slog.LevelError, msg, tags) }

func (l logger) Panic(msg string, tags ...tag.Tag) {
	l.put(slog.LevelError, msg, tags)
	panic(msg)
}

func (l logger) Fatal(msg string, tags ...tag.Tag) {
	l.put(slog.LevelError, msg, tags)
	os.Exit(1)
}

func (l logger) put(level slog.Level, msg string, tags []tag.Tag) {
	ctx := context.Background()
	if !l.log.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, len(tags))
	for _, t := range tags {
		attrs = append(attrs, slog.Any(t.Key(), t.Value()))
	}
	l.log.LogAttrs(ctx, level, msg, attrs...)
}
