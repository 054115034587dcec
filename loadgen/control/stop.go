package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"brownout/loadgen/engine"
	"brownout/loadgen/engine/account"
	"brownout/loadgen/ledger"
	"brownout/loadgen/record"
)

// summary is what is known of the load while it runs.
func (s *Session) summary(t0 time.Time) record.Summary {
	summary := record.NewSummary(s.version, t0)
	summary.Driver, summary.DriverSettings = s.spec.Driver, s.settings
	if !s.spec.Part.Alone() {
		summary.Part = &s.spec.Part
	}
	summary.Loop, summary.LaneCap, summary.GlobalCap = s.spec.Loop(), s.laneCap(), s.spec.GlobalCap
	return summary
}

// stop ends the schedule, lets what is in flight end, and completes the files.
func (s *Session) stop(reason string) error {
	if !s.running() {
		return &errOrder{"there is nothing to stop", "send `start` first, and `stop` once"}
	}
	s.stopped = true
	ending, err := s.engine.Stop()
	s.calmed()
	if err := errors.Join(err, s.directory.Close()); err != nil {
		return err
	}
	if err := s.writeLedger(); err != nil {
		return err
	}
	summary := s.final(ending, reason)
	if err := s.directory.WriteSummary(&summary); err != nil {
		return err
	}
	s.out.send(stoppedEvent(&summary))
	return nil
}

func (s *Session) final(ending engine.Ending, reason string) record.Summary {
	s.clock.Lock()
	summary := s.summary(s.t0)
	s.clock.Unlock()
	end := seconds(ending.At)
	summary.Ended, summary.EndT, summary.StopReason = true, &end, reason
	counts := &ending.Counts
	summary.Offered = counts.Offered
	summary.Ok, summary.Late, summary.Failed = counts.Ends[account.Ok], counts.Ends[account.Late], counts.Ends[account.Failed]
	summary.InDoubt, summary.Shed, summary.Missed = counts.Ends[account.InDoubt], counts.Ends[account.Shed], counts.Ends[account.Missed]
	summary.Undrained, summary.Violations = ending.Undrained, ending.Violations
	summary.LagP99MS = milliseconds(ending.LagP99)
	return summary
}

// stoppedEvent has the fields of generator.json.
func stoppedEvent(summary *record.Summary) event {
	fields := event{}
	if text, err := json.Marshal(summary); err == nil {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()         // nanoseconds need all their digits
		_ = decoder.Decode(&fields) // it was just made
	}
	return named("stopped", fields)
}

// writeLedger writes down what the database promised to keep.
func (s *Session) writeLedger() error {
	for _, set := range s.engine.Ledger() {
		err := set.Lines(s.spec.Writer, func(line *ledger.Line) error { return s.directory.Ledger(line) })
		if err != nil {
			return err
		}
	}
	for _, promises := range s.engine.Promises() {
		err := promises.Lines(s.spec.Writer, func(line *ledger.Line) error { return s.directory.Ledger(line) })
		if err != nil {
			return err
		}
	}
	if err := s.engine.CheckedReads(s.directory.Ledger); err != nil {
		return err
	}
	return s.directory.FlushLedger()
}
