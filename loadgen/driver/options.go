package driver

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ReadOptions reads the options of a driver over its defaults, by the names that their fields have in
// JSON, refuses those that are unknown, and checks the rest.
func ReadOptions[O any](of string, options map[string]any, defaults O, check func(O) error) (O, error) {
	read := defaults
	text, err := json.Marshal(options)
	if err != nil {
		return read, fmt.Errorf("options: %w", err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&read); err != nil {
		return read, fmt.Errorf("options of the %s driver: %w", of, err)
	}
	return read, check(read)
}

// Problems are all that is wrong with a configuration.
type Problems []error

// Want notes a problem unless there is none.
func (p *Problems) Want(ok bool, format string, arguments ...any) {
	if !ok {
		*p = append(*p, fmt.Errorf(format, arguments...))
	}
}

// Joined is one error of them all, or nil.
func (p Problems) Joined() error { return errors.Join(p...) }

// Milliseconds is so long, as options say it.
func Milliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }
