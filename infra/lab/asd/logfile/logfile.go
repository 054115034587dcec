// Package logfile writes the log of a node in the form of the real server's, so that a reader of
// one can read the other.
package logfile

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// Log is one open log file.
type Log struct {
	mu   sync.Mutex
	file *os.File
}

// Open opens the log to append to it.
func Open(path string) (*Log, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o640)
	if err != nil {
		return nil, err
	}
	return &Log{file: file}, nil
}

// Info writes a line of what happened: `Nov 21 2026 09:00:18.423 GMT: INFO (hb): node expired a3`.
func (l *Log) Info(context, format string, args ...any) { l.line("INFO", context, format, args) }

// Warn writes a line of what should not have happened.
func (l *Log) Warn(context, format string, args ...any) { l.line("WARNING", context, format, args) }

// Fail writes a line of what ends the server.
func (l *Log) Fail(context, format string, args ...any) {
	l.line("FAILED ASSERTION", context, format, args)
}

func (l *Log) line(level, context, format string, args []any) {
	now := time.Now().UTC().Format("Jan 02 2006 15:04:05.000 GMT")
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " ")
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.file, "%s: %s (%s): %s\n", now, level, context, text)
}
