package driver

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ReadOptions reads the options of a driver into a struct that has the defaults, by the names that
// its fields have in JSON. It refuses those that are unknown.
func ReadOptions(of string, options map[string]any, into any) error {
	text, err := json.Marshal(options)
	if err != nil {
		return fmt.Errorf("options: %w", err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("options of the %s driver: %w", of, err)
	}
	return nil
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
