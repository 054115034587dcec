package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"brownout/loadgen/control"
	"brownout/loadgen/driver"
	"brownout/loadgen/spec"
)

// verdict is the answer of `loadgen check` to one specification.
type verdict struct {
	OK       bool     `json:"ok"`
	Problems []string `json:"problems,omitempty"`
}

// check reports for each specification, one after the other, whether `open` would accept it.
func check(arguments []string, in io.Reader, out io.Writer) int {
	if len(arguments) > 0 {
		return misused(fmt.Sprintf("`check` takes no arguments, found %q", arguments[0]))
	}
	decoder, encoder, code := json.NewDecoder(in), json.NewEncoder(out), control.ExitOK
	for {
		var text json.RawMessage
		switch err := decoder.Decode(&text); {
		case err == io.EOF:
			return code
		case err != nil:
			return failed(control.ExitBadSpec, fmt.Errorf("stdin: %w (wanted specifications as JSON, one after the other)", err))
		}
		problems := problemsOf(text)
		if len(problems) > 0 {
			code = control.ExitBadSpec
		}
		if err := encoder.Encode(verdict{len(problems) == 0, problems}); err != nil {
			return failed(control.ExitFailed, err)
		}
	}
}

func problemsOf(text []byte) []string {
	wanted, err := spec.Parse(text)
	var problems spec.Problems
	if errors.As(err, &problems) {
		return problems
	}
	plain, err := driver.New(wanted.Driver)
	if of, ok := plain.(driver.ChecksOptions); ok {
		err = of.CheckOptions(wanted.DriverConfig())
	}
	if err != nil {
		return []string{err.Error()}
	}
	return nil
}
