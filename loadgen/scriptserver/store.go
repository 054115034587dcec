package scriptserver

import "brownout/loadgen/scriptserver/wire"

// record is one stored record: a register, a counter, or both.
type record struct {
	writer   string
	seq      uint64
	checksum uint32
	value    []byte
	register bool
	counter  int64
}

// space is one namespace on one lane.
type space struct {
	owner   string // who claimed it
	records map[string]*record
}

func newSpace() *space { return &space{records: map[string]*record{}} }

// claim takes the namespace and empties it, unless it holds data without a claim.
func (s *space) claim(writer string) bool {
	if s.owner == "" && len(s.records) > 0 {
		return false
	}
	s.owner, s.records = writer, map[string]*record{}
	return true
}

func (s *space) at(key string) *record {
	found := s.records[key]
	if found == nil {
		found = &record{}
		s.records[key] = found
	}
	return found
}

// put stores a register and returns the sequence it replaces.
func (s *space) put(r *wire.Request) (before uint64) {
	stored := s.at(r.Key)
	before = stored.seq
	stored.writer, stored.seq, stored.checksum, stored.register = r.Writer, r.Seq, r.Checksum, true
	stored.value = append(stored.value[:0], r.Value...)
	return before
}

// corrupt flips a bit of a stored register.
func (s *space) corrupt(key string) {
	stored := s.at(key)
	if len(stored.value) > 0 {
		stored.value[0] ^= 1
	} else {
		stored.checksum ^= 1
	}
}

// get fills the answer in.
func (s *space) get(key string, answer *wire.Response) {
	stored := s.records[key]
	if stored == nil {
		answer.Status = wire.Missing
		return
	}
	answer.Writer, answer.Seq, answer.Checksum = stored.writer, stored.seq, stored.checksum
	answer.Value, answer.Number = stored.value, stored.counter
}
