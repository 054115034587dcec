// Package runfile reads the large files that a generator leaves in its run directory: counts in
// buckets (series.csv, outcomes.csv, lanes.csv) and response times (latency.hlog).
//
// A last line without an end is left out, because its writer was killed or still writes. Anything
// else that is not as it should be is an error that names the file and the line.
package runfile

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

// Longest bounds a line: nothing that a generator writes comes near it.
const Longest = 1 << 24

// Error says what is wrong with a file.
type Error struct {
	File string
	Line int // from 1; 0 where it is the whole file
	Text string
}

func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s, line %d: %s", e.File, e.Line, e.Text)
	}
	return fmt.Sprintf("%s: %s", e.File, e.Text)
}

// Lines reads the whole lines of a file. A file that is not there has none.
type Lines struct {
	File   string // as it was opened, from its directory
	Number int    // of the line read last
	Place  int64  // where it begins
	end    int64
	handle *os.File
	in     *bufio.Reader
	buffer []byte
}

// Open opens a file in dir.
func Open(dir, file string) (*Lines, error) {
	handle, err := os.Open(filepath.Join(dir, file))
	if errors.Is(err, os.ErrNotExist) {
		return &Lines{File: file}, nil
	}
	if err != nil {
		return nil, unreadable(file, err)
	}
	return &Lines{File: file, handle: handle, in: bufio.NewReaderSize(handle, 1<<18)}, nil
}

// unreadable names the file as brownout does, whatever path it was opened by.
func unreadable(file string, err error) error {
	var of *os.PathError
	if errors.As(err, &of) {
		err = of.Err
	}
	return &Error{file, 0, fmt.Sprintf("cannot be read: %v", err)}
}

// Close closes the file.
func (l *Lines) Close() {
	if l.handle != nil {
		_ = l.handle.Close() // it was only read
	}
}

// Next returns the next line without its end, until the one after it. At the end of the file it is
// what there is of a last line, and false.
func (l *Lines) Next() (line []byte, ended bool, err error) {
	if l.in == nil {
		return nil, false, nil
	}
	l.buffer, l.Place = l.buffer[:0], l.end
	for {
		piece, err := l.in.ReadSlice('\n')
		l.end += int64(len(piece))
		if err == nil && len(l.buffer) == 0 {
			l.Number++
			return trimmed(piece), true, nil
		}
		l.buffer = append(l.buffer, piece...)
		switch {
		case len(l.buffer) > Longest:
			return nil, false, &Error{l.File, l.Number + 1, "is too long (wanted at most 16 MiB)"}
		case err == nil:
			l.Number++
			return trimmed(l.buffer), true, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return l.buffer, false, nil
		default:
			return nil, false, unreadable(l.File, err)
		}
	}
}

func trimmed(line []byte) []byte {
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r"))
}

// Header takes the first line. Where it has no end it may be cut short.
func (l *Lines) Header(wanted string) error {
	_, err := l.HeaderOf(wanted)
	return err
}

// HeaderOf takes the first line and returns which of several headers it is. An error names the first.
func (l *Lines) HeaderOf(headers ...string) (int, error) {
	line, ended, err := l.Next()
	if err != nil {
		return 0, err
	}
	found := strings.TrimSpace(string(line))
	for i, wanted := range headers {
		if found == wanted || !ended && strings.HasPrefix(wanted, found) {
			return i, nil
		}
	}
	return 0, &Error{l.File, 1, fmt.Sprintf("found the header `%.200s` (wanted `%s`)", found, headers[0])}
}

// Wrong reports what is wrong with the line read last.
func (l *Lines) Wrong(format string, arguments ...any) error {
	return &Error{l.File, l.Number, fmt.Sprintf(format, arguments...)}
}
