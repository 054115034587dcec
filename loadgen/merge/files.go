package merge

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"brownout/loadgen/runfile"
)

// replace writes a file of the run, for its owner alone, under another name and renames it.
func (r *run) replace(name string, write func(*bufio.Writer) error) (err error) {
	path := filepath.Join(r.dir, name)
	beside := filepath.Join(r.dir, fmt.Sprintf(".%s.%d", name, os.Getpid()))
	file, err := os.OpenFile(beside, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return &WriteError{err}
	}
	defer func() {
		if err != nil {
			_ = file.Close()
			_ = os.Remove(beside)
		}
	}()
	out := bufio.NewWriterSize(file, 1<<16)
	if err := write(out); err != nil {
		return err
	}
	if err := errors.Join(out.Flush(), file.Sync(), file.Close()); err != nil {
		return &WriteError{err}
	}
	if err := os.Rename(beside, path); err != nil {
		return &WriteError{err}
	}
	return nil
}

// WriteError is a run directory that cannot be written.
type WriteError struct{ cause error }

func (e *WriteError) Error() string {
	return fmt.Sprintf("cannot write the run directory: %v", e.cause)
}

// Unwrap returns the system's error.
func (e *WriteError) Unwrap() error { return e.cause }

// openAll opens a file of every part.
func (r *run) openAll(name string) (all []*runfile.Lines, close func(), err error) {
	close = func() {
		for _, each := range all {
			each.Close()
		}
	}
	for _, path := range r.parts(name) {
		opened, err := runfile.Open(r.dir, path)
		if err != nil {
			close()
			return nil, nil, err
		}
		all = append(all, opened)
	}
	return all, close, nil
}
