package engine

import (
	"context"
	"fmt"
	"io"

	"brownout/loadgen/history"
)

// CheckedHistory is whether the registers of one stream were linearizable: a line of ledger.ndjson.
type CheckedHistory struct {
	History         string  `json:"history"` // the stream
	Registers       uint64  `json:"registers"`
	Operations      uint64  `json:"operations"`
	Nonlinearizable uint64  `json:"nonlinearizable"` // registers
	Unknown         uint64  `json:"unknown"`         // registers
	Why             string  `json:"why,omitempty"`
	Seconds         float64 `json:"seconds"`
}

// BrokenRegister is one register that was not linearizable: a line of ledger.ndjson.
type BrokenRegister struct {
	Nonlinearizable string  `json:"nonlinearizable"` // the stored key
	Stream          string  `json:"stream"`
	Lane            string  `json:"lane"`
	T               float64 `json:"t"`
	Operation       string  `json:"operation"` // that ended then, and fits into no order
	Drawing         string  `json:"drawing"`   // a file of the run directory
}

// CheckHistories checks the histories that were kept, and hands on what that came to: lines of
// ledger.ndjson, and drawings, each with the name of its file.
func (e *Engine) CheckHistories(
	ctx context.Context, progress func(done, total uint64), line func(any) error,
	drawing func(name string, draw func(io.Writer) error) error,
) error {
	for _, s := range e.streams {
		if s.history == nil {
			continue
		}
		checked := s.history.Check(ctx, progress)
		err := line(&CheckedHistory{
			s.spec.Name, checked.Registers, checked.Operations, checked.Broken, checked.Unknown, checked.Why,
			checked.Took.Seconds(),
		})
		if err != nil {
			return err
		}
		for i := range checked.Examples {
			broken := &checked.Examples[i]
			name := history.FileName(broken.ID)
			if err := drawing(name, broken.Draw); err != nil {
				return err
			}
			if !e.spec.Part.Alone() { // the run directory has those of its generators
				name = fmt.Sprintf("parts/%d/%s", e.spec.Part.Index, name)
			}
			err := line(&BrokenRegister{
				broken.ID, s.spec.Name, broken.Lane, broken.At.Seconds(), broken.What, name,
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
