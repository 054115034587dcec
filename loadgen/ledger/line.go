package ledger

import "iter"

// Line is what the ledger says of one key: one line of ledger.ndjson.
type Line struct {
	Key    string `json:"key"`
	Stream string `json:"stream"`
	Kind   string `json:"kind"` // register or counter
	Writer string `json:"writer"`
	// Acked is the last acknowledged sequence of a register, and the sum of the
	// acknowledged increments of a counter.
	Acked    uint64      `json:"acked"`
	AckedN   uint64      `json:"acked_n"`
	InDoubt  [][2]uint64 `json:"in_doubt"` // inclusive ranges of sequences
	Failed   [][2]uint64 `json:"failed"`
	InDoubtN uint64      `json:"in_doubt_n"`
	FailedN  uint64      `json:"failed_n"`
	// Coarse tells that there were too many ranges, so that some of them also
	// cover sequences of another fate.
	Coarse bool `json:"coarse,omitempty"`
	// Loaded tells that the load phase wrote it: it has to be there even without later writes.
	Loaded bool `json:"loaded,omitempty"`
	// Known is what its one writer knew to be stored at last, from and to: the sequence of a
	// register, the value of a counter. What is above the first is in doubt.
	Known *[2]uint64 `json:"known,omitempty"`
	// AppliedN and AbsentN are what became of writes in doubt, as later writes found out.
	AppliedN uint64 `json:"applied_n,omitempty"`
	AbsentN  uint64 `json:"absent_n,omitempty"`
	// RemadeN counts the writes to a shared counter that found it missing and made it anew.
	RemadeN uint64 `json:"remade_n,omitempty"`
	// UnackedReads are the reads that returned a write which is not acknowledged.
	UnackedReads []UnackedRead `json:"unacked_reads,omitempty"`
	// Refused tells of the write that found something else than its writer knew; it was the last.
	Refused *Refusal `json:"refused,omitempty"`
}

// Lines returns the state of every key that is promised of here. A write that has not ended is in doubt.
func (s *Set) Lines(writer string, each func(*Line) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.numbers() {
		k := s.keys[i]
		if k.open {
			seq := k.next
			k.book(InDoubt)
			s.learn(&k, seq, &Ended{Fate: InDoubt})
		}
		if err := each(s.line(s.ids[i], &k, writer)); err != nil {
			return err
		}
	}
	for i := range s.gone {
		line := s.line(s.gone[i].id, &s.gone[i].history, writer)
		line.Refused = s.gone[i].refusal
		if err := each(line); err != nil {
			return err
		}
	}
	return nil
}

// numbers are those of the keys that are promised of here.
func (s *Set) numbers() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range s.keys {
			if s.kept != nil {
				if i >= len(s.kept) {
					return
				}
				i = int(s.kept[i])
			}
			if !yield(i) {
				return
			}
		}
	}
}

func (s *Set) line(id string, k *key, writer string) *Line {
	line := &Line{
		Key: id, Stream: s.Name, Kind: "register", Writer: writer,
		Acked: k.acked, AckedN: k.ackedN, InDoubt: [][2]uint64{}, Failed: [][2]uint64{},
		InDoubtN: k.inDoubtN, FailedN: k.failedN, Coarse: k.coarse, Loaded: k.loaded,
		AppliedN: k.applied, AbsentN: k.absent, RemadeN: k.remadeN, UnackedReads: k.unackedReads(),
	}
	if !s.shared {
		line.Known = &[2]uint64{k.first, k.last}
	}
	if s.Counter {
		line.Kind, line.Acked, line.Coarse = "counter", k.ackedN, false
		return line
	}
	line.InDoubt = append(line.InDoubt, k.inDoubt...)
	line.Failed = append(line.Failed, k.failed...)
	return line
}
