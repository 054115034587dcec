// Package depot keeps the files of a generator that runs in a pod until they
// have been fetched: a pod's files end with its process, and its image may have
// neither a shell nor tar.
//
//	DIR/run       the run directory
//	DIR/pid       the generator's process
//	DIR/ended     its exit code, once it has ended and its files are complete
//	DIR/released  the files are not needed any more
package depot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Depot is the directory of one generator.
type Depot struct{ path string }

// runName is where in the depot the run directory lies.
const runName = "run"

// every is how often a file is looked for.
const every = 100 * time.Millisecond

// At is the depot in a directory.
func At(path string) Depot { return Depot{path: path} }

// Open makes the depot this process's.
func (d Depot) Open() error {
	if err := os.MkdirAll(d.path, 0o700); err != nil {
		return err
	}
	return d.write("pid", strconv.Itoa(os.Getpid()))
}

// Hold notes how the generator ended, and returns when its files have been
// fetched, or after so much time.
func (d Depot) Hold(code int, limit time.Duration) error {
	if err := d.write("ended", strconv.Itoa(code)); err != nil {
		return err
	}
	d.await("released", limit)
	return nil
}

// Release lets the generator go.
func (d Depot) Release() error { return d.write("released", "") }

// End has the generator end now, and returns its exit code once its files are
// complete.
func (d Depot) End(limit time.Duration) (code int, err error) {
	if _, err := d.number("ended"); errors.Is(err, os.ErrNotExist) {
		pid, err := d.number("pid")
		if err != nil {
			return 0, err
		}
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
			return 0, fmt.Errorf("process %d: %w", pid, err)
		}
	}
	if !d.await("ended", limit) {
		return 0, fmt.Errorf("the generator has not ended after %v", limit)
	}
	return d.number("ended")
}

func (d Depot) await(name string, limit time.Duration) bool {
	for deadline := time.Now().Add(limit); ; time.Sleep(every) {
		if _, err := os.Stat(d.in(name)); err == nil {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}

func (d Depot) number(name string) (int, error) {
	text, err := os.ReadFile(d.in(name))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// write makes a file in one step: who finds it finds all of it.
func (d Depot) write(name, text string) error {
	draft := d.in("." + name)
	if err := os.WriteFile(draft, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(draft, d.in(name))
}

func (d Depot) in(name string) string { return filepath.Join(d.path, name) }
