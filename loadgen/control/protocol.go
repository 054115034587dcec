// Package control speaks the generator's protocol: commands come in as lines
// of JSON, events go out as lines of JSON. It also decides what happens when
// the client falls silent.
package control

import (
	"encoding/json"
	"errors"
)

// command is one line of input.
type command struct {
	Cmd  string          `json:"cmd"`
	Spec json.RawMessage `json:"spec"`
	ID   json.RawMessage `json:"id"`
	Step string          `json:"step"` // of load
	At   *float64        `json:"at"`   // of start: seconds since the process began
	// Copies, of verify: compare what every server has stored.
	Copies bool `json:"copies"`
}

// event is one line of output; "event" is added to its fields.
type event map[string]any

func named(name string, fields event) event {
	if fields == nil {
		fields = event{}
	}
	fields["event"] = name
	return fields
}

// complain tells that something failed, and where.
func (s *Session) complain(where string, err error) {
	secrets := s.secrets.Load()
	s.out.send(named("error", event{
		"where": where, "message": secrets.Replace(err.Error()), "hint": secrets.Replace(hintOf(err)),
	}))
}

// hinted is an error that knows what to do about it.
type hinted interface {
	error
	Hint() string
}

func hintOf(err error) string {
	var known hinted
	if errors.As(err, &known) {
		return known.Hint()
	}
	return ""
}

// The exit codes of `loadgen run`.
const (
	ExitOK      = 0
	ExitFailed  = 1
	ExitBadSpec = 64
	ExitNoDisk  = 74 // the run directory cannot be written
)
