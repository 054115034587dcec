// Package scriptserver answers as a script says: with dips, freezes, refusals
// and lost writes at known moments. Whatever is measured against it can be
// compared with what truly happened, which it writes down as well.
//
// It looks like a cluster: each lane is a node with its own port, its own
// records and one thread, so a lane can be frozen or refuse connections alone.
package scriptserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"brownout/loadgen/driver"
)

// Script is what happens when. Times count from the start of the schedule.
type Script struct {
	Lanes     int      `yaml:"lanes" json:"lanes"`           // nodes
	LatencyMS float64  `yaml:"latency_ms" json:"latency_ms"` // of every answer
	OpsPerS   float64  `yaml:"ops_per_s" json:"ops_per_s"`   // that a lane can do, one after the other; 0: any number
	Seed      uint64   `yaml:"seed" json:"seed"`             // which operations a share hits
	Effects   []Effect `yaml:"effects" json:"effects"`
}

// Effect is one thing that goes wrong, from At for For seconds.
type Effect struct {
	At     float64 `yaml:"at" json:"at"`
	For    float64 `yaml:"for" json:"for,omitempty"`
	Effect string  `yaml:"effect" json:"effect"`
	Lane   *int    `yaml:"lane" json:"lane,omitempty"`   // nil: every lane
	Only   string  `yaml:"only" json:"only,omitempty"`   // read or write; "": both
	Share  float64 `yaml:"share" json:"share,omitempty"` // of the operations; 0 stands for 1

	Cause   string  `yaml:"cause" json:"cause,omitempty"`         // error
	Code    string  `yaml:"code" json:"code,omitempty"`           // error
	InDoubt bool    `yaml:"in_doubt" json:"in_doubt,omitempty"`   // error: the server does not know either
	Applied bool    `yaml:"applied" json:"applied,omitempty"`     // error: the write took effect all the same
	MS      float64 `yaml:"ms" json:"ms,omitempty"`               // latency: added to every answer
	Delay   float64 `yaml:"delay" json:"delay,omitempty"`         // late: seconds until the write is applied
	OpsPerS float64 `yaml:"ops_per_s" json:"ops_per_s,omitempty"` // pace: that a lane can do meanwhile
}

// The effects.
const (
	Error   = "error"   // answers with an error
	Freeze  = "freeze"  // accepts, answers and applies nothing until the end; then everything
	Refuse  = "refuse"  // drops connections and what was not done yet, accepts none until the end
	Drop    = "drop"    // drops the connections once; what was received is still done
	Latency = "latency" // answers later
	Silence = "silence" // never answers, and does nothing
	Lose    = "lose"    // acknowledges writes and forgets them
	Late    = "late"    // does not answer writes, but applies them Delay seconds later
	Corrupt = "corrupt" // acknowledges writes and stores them with a flipped bit
	Pace    = "pace"    // does so many operations a second
)

var effects = []string{Error, Freeze, Refuse, Drop, Latency, Silence, Lose, Late, Corrupt, Pace}

// Read parses a script from a YAML or JSON file.
func Read(path string) (*Script, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the script: %w", err)
	}
	return Parse(text)
}

// Parse parses a script. Its error names every problem.
func Parse(text []byte) (*Script, error) {
	script := &Script{Lanes: 1}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(script); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("the script is not as wanted: %w", err)
	}
	for i := range script.Effects {
		script.Effects[i].fillDefaults()
	}
	return script, errors.Join(script.check()...)
}

func (e *Effect) fillDefaults() {
	if e.Share == 0 {
		e.Share = 1
	}
	if e.Effect == Error && e.Cause == "" {
		e.Cause = string(driver.CauseOverloaded)
	}
}

func (s *Script) check() (problems []error) {
	add := func(ok bool, format string, arguments ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf(format, arguments...))
		}
	}
	add(s.Lanes >= 1 && s.Lanes <= 64, "`lanes` is %d (wanted 1 to 64)", s.Lanes)
	add(within(s.LatencyMS, 0, longest), "`latency_ms` is %v (wanted 0 to %.0e)", s.LatencyMS, longest)
	add(s.OpsPerS == 0 || within(s.OpsPerS, 1/longest, longest), "`ops_per_s` is %v (wanted 0 to %.0e)", s.OpsPerS, longest)
	for i, e := range s.Effects {
		where := fmt.Sprintf("effect %d (%s): ", i+1, e.Effect)
		add(slices.Contains(effects, e.Effect), "%sunknown effect (wanted one of: %s)", where, strings.Join(effects, ", "))
		add(within(e.At, 0, longest), "%s`at` is %v (wanted 0 to %.0e)", where, e.At, longest)
		add(within(e.For, 0, longest), "%s`for` is %v (wanted at most %.0e)", where, e.For, longest)
		add(e.For > 0 != (e.Effect == Drop), "%s`for` is %v (wanted more than 0; a drop has none)", where, e.For)
		add(e.Share > 0 && e.Share <= 1, "%s`share` is %v (wanted more than 0, at most 1)", where, e.Share)
		add(e.Lane == nil || (*e.Lane >= 0 && *e.Lane < s.Lanes), "%sthere is no such `lane`", where)
		add(slices.Contains([]string{"", "read", "write"}, e.Only), "%s`only` is %q (wanted read or write)", where, e.Only)
		add(e.Cause == "" || driver.Cause(e.Cause).Known(), "%sunknown `cause` %q", where, e.Cause)
		add(e.Effect != Latency || e.MS > 0, "%s`ms` is %v (wanted more than 0)", where, e.MS)
		add(e.Effect != Late || e.Delay > 0, "%s`delay` is %v (wanted more than 0)", where, e.Delay)
		add((e.Effect == Pace) == (e.OpsPerS != 0) && (e.OpsPerS == 0 || within(e.OpsPerS, 1/longest, longest)),
			"%s`ops_per_s` is %v (wanted more than 0 for a pace, and none else)", where, e.OpsPerS)
		add(e.Effect != Pace || (e.Only == "" && e.Share == 1), "%sa pace is of all operations", where)
		add(within(e.MS, 0, longest) && within(e.Delay, 0, longest),
			"%s`ms` is %v and `delay` %v (wanted 0 to %.0e)", where, e.MS, e.Delay, longest)
	}
	return problems
}

// longest bounds every time, in its own unit: its nanoseconds are to fit into a number.
const longest = 1e9

// within is also false for NaN.
func within(value, low, high float64) bool { return value >= low && value <= high }

// Start and End bound the effect.
func (e *Effect) start() time.Duration { return inSeconds(e.At) }
func (e *Effect) end() time.Duration   { return inSeconds(e.At + e.For) }

func (e *Effect) active(t time.Duration) bool { return t >= e.start() && t < e.end() }

func (e *Effect) on(lane int) bool { return e.Lane == nil || *e.Lane == lane }

func (e *Effect) concerns(write bool) bool {
	return e.Only == "" || (e.Only == "write") == write
}

func inSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
