package engine

import (
	"time"
)

// CheckedReads is what the reads of one lane and stream came to: a line of ledger.ndjson. StaleMissed
// and StaleS are the most of all stale reads.
type CheckedReads struct {
	Reads       string   `json:"reads"` // the stream
	Lane        string   `json:"lane"`
	Guarantee   string   `json:"guarantee"`
	From        string   `json:"from"`
	Checked     uint64   `json:"checked"`
	Stale       uint64   `json:"stale"`
	Session     uint64   `json:"session"` // of the stale ones: older than what the lane itself had
	Dirty       uint64   `json:"dirty"`
	StaleMissed uint64   `json:"stale_missed"` // acknowledged writes
	StaleS      float64  `json:"stale_s"`
	FirstT      *float64 `json:"first_t,omitempty"`
	LastT       *float64 `json:"last_t,omitempty"`
}

// StaleRead is one read that returned an older state: a line of ledger.ndjson.
type StaleRead struct {
	Stale  string  `json:"stale"` // the key
	Stream string  `json:"stream"`
	Lane   string  `json:"lane"`
	T      float64 `json:"t"`
	Seq    uint64  `json:"seq"` // that it returned; 0: nothing
	Acked  uint64  `json:"acked"`
	AgeS   float64 `json:"age_s"`
}

// CheckedReads hands on what the reads of verified keys came to: lines of ledger.ndjson.
func (e *Engine) CheckedReads(each func(line any) error) error {
	for _, s := range e.streams {
		if s.registers == nil {
			continue
		}
		lanes, stale := s.registers.CheckedReads()
		for _, lane := range lanes {
			line := &CheckedReads{
				Reads: s.spec.Name, Lane: lane.Lane, Guarantee: s.spec.Reads, From: s.spec.ReadsFrom,
				Checked: lane.Checked, Stale: lane.Stale, Session: lane.Session, Dirty: lane.Dirty,
				StaleMissed: lane.Missed, StaleS: lane.Age.Seconds(),
			}
			if lane.Stale > 0 {
				line.FirstT, line.LastT = inSeconds(lane.First), inSeconds(lane.Last)
			}
			if err := each(line); err != nil {
				return err
			}
		}
		for _, one := range stale {
			line := &StaleRead{
				one.ID, s.spec.Name, one.Lane, one.At.Seconds(), one.Seq, one.Acked, one.Age.Seconds(),
			}
			if err := each(line); err != nil {
				return err
			}
		}
	}
	return nil
}

func inSeconds(at time.Duration) *float64 {
	seconds := at.Seconds()
	return &seconds
}
