package record

import (
	"fmt"
	"os"
	"path/filepath"
)

// file is an append-only file of whole lines. A reader never sees half a line,
// not even after the disk was full: a write that fails is taken back.
type file struct {
	handle *os.File
	lines  []byte // not written yet
	size   int64  // of what is written
}

// create makes a file that must not be there yet: a run is never overwritten.
func create(dir, name, header string) (*file, error) {
	handle, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, explain(err)
	}
	return &file{handle: handle, lines: []byte(header)}, nil
}

// flush hands the lines to the operating system.
func (f *file) flush() error {
	if len(f.lines) == 0 {
		return nil
	}
	n, err := f.handle.Write(f.lines)
	if err != nil {
		if n > 0 {
			_ = f.handle.Truncate(f.size) // the first error is the one that matters
		}
		return explain(err)
	}
	f.size += int64(n)
	f.lines = f.lines[:0]
	return nil
}

func (f *file) close() error {
	flushed := f.flush()
	if err := f.handle.Close(); flushed == nil && err != nil {
		return explain(err)
	}
	return flushed
}

// Error is a run directory that cannot be written.
type Error struct{ cause error }

func (e *Error) Error() string { return fmt.Sprintf("cannot write the run directory: %v", e.cause) }

// Unwrap returns the system's error.
func (e *Error) Unwrap() error { return e.cause }

func explain(err error) error { return &Error{err} }
