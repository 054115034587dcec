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
}

// Lines returns the state of every key that is promised of here. A write that has not ended is in doubt.
func (s *Set) Lines(writer string, each func(*Line) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.numbers() {
		k := s.keys[i]
		if k.open {
			k.book(InDoubt)
		}
		if err := each(s.line(i, &k, writer)); err != nil {
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

func (s *Set) line(i int, k *key, writer string) *Line {
	line := &Line{
		Key: s.ids[i], Stream: s.Name, Kind: "register", Writer: writer,
		Acked: k.acked, AckedN: k.ackedN, InDoubt: [][2]uint64{}, Failed: [][2]uint64{},
		InDoubtN: k.inDoubtN, FailedN: k.failedN, Coarse: k.coarse,
	}
	if s.Counter {
		line.Kind, line.Acked, line.Coarse = "counter", k.ackedN, false
		return line
	}
	line.InDoubt = append(line.InDoubt, k.inDoubt...)
	line.Failed = append(line.Failed, k.failed...)
	return line
}
