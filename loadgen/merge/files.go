package merge

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// longest bounds a line: nothing that a generator writes comes near it.
const longest = 1 << 24

// lines reads the whole lines of a file of a part. A last one without an end is left out: its
// writer was killed. A file that is not there has none.
type lines struct {
	file   string // from the run directory
	number int    // of the line read last
	handle *os.File
	in     *bufio.Reader
	buffer []byte
}

func (r *run) lines(file string) (*lines, error) {
	handle, err := os.Open(filepath.Join(r.dir, file))
	if errors.Is(err, os.ErrNotExist) {
		return &lines{file: file}, nil
	}
	if err != nil {
		return nil, err
	}
	return &lines{file: file, handle: handle, in: bufio.NewReaderSize(handle, 1<<16)}, nil
}

func (l *lines) close() {
	if l.handle != nil {
		_ = l.handle.Close() // it was only read
	}
}

// next returns the next line without its end, until the one after it. At the end of the file it is
// what there is of a last line, and false.
func (l *lines) next() (line []byte, ended bool, err error) {
	if l.in == nil {
		return nil, false, nil
	}
	l.buffer = l.buffer[:0]
	for {
		piece, err := l.in.ReadSlice('\n')
		l.buffer = append(l.buffer, piece...)
		switch {
		case len(l.buffer) > longest:
			return nil, false, &Error{l.file, l.number + 1, "is no line (wanted one of at most 16 MiB)"}
		case err == nil:
			l.number++
			return bytes.TrimSuffix(l.buffer[:len(l.buffer)-1], []byte("\r")), true, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return l.buffer, false, nil
		default:
			return nil, false, err
		}
	}
}

// header takes the first line, which may be cut short.
func (l *lines) header(wanted string) error {
	line, _, err := l.next()
	found := strings.TrimSpace(string(line))
	if err == nil && !strings.HasPrefix(wanted, found) {
		err = l.wrong("found the header `%.200s` (wanted `%s`)", found, wanted)
	}
	return err
}

// wrong reports what is wrong with the line read last.
func (l *lines) wrong(format string, arguments ...any) error {
	return &Error{l.file, l.number, fmt.Sprintf(format, arguments...)}
}

// replace writes a file of the run under another name and renames it.
func (r *run) replace(name string, mode os.FileMode, write func(*bufio.Writer) error) (err error) {
	path := filepath.Join(r.dir, name)
	beside := filepath.Join(r.dir, fmt.Sprintf(".%s.%d", name, os.Getpid()))
	file, err := os.OpenFile(beside, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
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
func (r *run) openAll(name string) (all []*lines, close func(), err error) {
	close = func() {
		for _, each := range all {
			each.close()
		}
	}
	for _, path := range r.parts(name) {
		opened, err := r.lines(path)
		if err != nil {
			close()
			return nil, nil, err
		}
		all = append(all, opened)
	}
	return all, close, nil
}
