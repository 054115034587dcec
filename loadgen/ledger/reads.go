package ledger

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"brownout/loadgen/driver"
)

const (
	// mostAcks bounds how many acknowledgements of one key are remembered with their times.
	mostAcks = 8
	// mostLanes bounds in how many lanes it is remembered what of one key was seen there.
	mostLanes = 8
	// mostUnacked bounds how many writes of one key are remembered that were read and are not
	// acknowledged.
	mostUnacked = 8
	// listedReads is how many stale reads are listed one by one.
	listedReads = 20
)

// Read is what a read of a register returned.
type Read struct {
	ID         string
	Lane       string
	Start, End time.Duration
	Found      *driver.Record // nil: nothing was there
}

// Reads is what the checked reads of one lane came to.
type Reads struct {
	Lane    string
	Checked uint64
	// Stale reads returned an older state than one acknowledged before they were sent; Session counts
	// those whose newer state was acknowledged or read in the same lane.
	Stale, Session uint64
	// Dirty reads returned a write that was never acknowledged and was found to be gone.
	Dirty uint64
	// Missed is how many acknowledged writes a stale read missed at most, Age how long before it was
	// sent the first of them had been acknowledged.
	Missed      uint64
	Age         time.Duration
	First, Last time.Duration // when the first and the last stale one were sent
}

// StaleRead is one of the stale reads.
type StaleRead struct {
	ID, Lane   string
	At, Age    time.Duration
	Seq, Acked uint64 // what it returned, and what had been acknowledged; 0: nothing was there
}

// UnackedRead counts the reads of one lane that returned a write which was not acknowledged.
type UnackedRead struct {
	Seq  uint64 `json:"seq"`
	Lane string `json:"lane"`
	N    uint64 `json:"n"`
}

// ack is when a write was acknowledged.
type ack struct {
	seq uint64
	at  time.Duration
}

// observed is what the reads of one register are held against.
type observed struct {
	acks    []ack     // some of the acknowledgements, the newest among them
	lanes   []state   // what each lane has had
	unacked []unacked // reads of what is not acknowledged
}

// observe is what is kept of the key's reads, made if there is nothing.
func (k *key) observe() *observed {
	if k.seen == nil {
		k.seen = &observed{}
	}
	return k.seen
}

// state is the newest acknowledged state of a key that one lane is known to have had.
type state struct {
	lane *Reads
	ack
}

// unacked counts reads of a write that is not acknowledged.
type unacked struct {
	lane *Reads
	seq  uint64
	n    uint64
}

// checks is what a set knows of its reads.
type checks struct {
	bySession bool // what each lane has had is remembered
	lanes     map[string]*Reads
	stale     []StaleRead
}

// CheckSessions has reads also held against what their own lane had before.
func (s *Set) CheckSessions() { s.reads.bySession = true }

// Returned checks what a read returned. Only what is certain counts: the key has its writer here, the
// stored key is still that one, and a write that is in doubt or failed is neither old nor new.
func (s *Set) Returned(number uint64, writer string, r *Read) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := &s.keys[number]
	if k.create || s.ids[number] != r.ID || !s.owns(number) || (r.Found != nil && r.Found.Writer != writer) {
		return
	}
	lane := s.reads.of(r.Lane)
	lane.Checked++
	seq := uint64(0)
	if r.Found != nil {
		seq = r.Found.Seq
	}
	switch {
	case seq > k.acked:
		k.readUnacked(lane, seq)
	case seq == 0 || !k.uncertain(seq):
		if seq < k.acked {
			s.checkAge(k, lane, seq, r)
		}
		if s.reads.bySession {
			k.has(lane, ack{seq, r.End})
		}
	}
}

// checkAge counts the read if an older state than one acknowledged before it was sent is what it
// returned.
func (s *Set) checkAge(k *key, lane *Reads, seq uint64, r *Read) {
	newest := k.ackedBy(r.Start)
	if newest <= seq {
		return
	}
	if lane.Stale == 0 {
		lane.First = r.Start
	}
	age := r.Start - k.missedAt(seq)
	lane.Stale++
	lane.First, lane.Last = min(lane.First, r.Start), max(lane.Last, r.Start)
	lane.Age, lane.Missed = max(lane.Age, age), max(lane.Missed, k.acknowledgedIn(seq+1, newest))
	if k.hadBefore(lane, seq, r.Start) {
		lane.Session++
	}
	if len(s.reads.stale) < listedReads {
		s.reads.stale = append(s.reads.stale, StaleRead{r.ID, lane.Lane, r.Start, age, seq, newest})
	}
}

// of is what is known of a lane.
func (c *checks) of(lane string) *Reads {
	known := c.lanes[lane]
	if known == nil {
		if c.lanes == nil {
			c.lanes = map[string]*Reads{}
		}
		known = &Reads{Lane: lane}
		c.lanes[lane] = known
	}
	return known
}

// uncertain tells whether a write is in doubt or failed: a database that kept its word may still
// show it, or it is not known when it took effect.
func (k *key) uncertain(seq uint64) bool {
	return k.inDoubt.between(seq, seq) > 0 || k.failed.between(seq, seq) > 0
}

// acknowledgedIn counts the acknowledged writes from first to last, which is one of them.
func (k *key) acknowledgedIn(first, last uint64) uint64 {
	others := k.inDoubt.between(first, last) + k.failed.between(first, last)
	return max(1, last-first+1-min(others, last-first))
}

// acknowledge remembers when a write was acknowledged. Where there are too many, the one makes way
// whose neighbours are closest to each other, as a share of their age: of what is long ago the times
// are coarse, and a read seems younger than it is.
func (k *key) acknowledge(seq uint64, at time.Duration) {
	o := k.observe()
	o.acks = append(o.acks, ack{seq, at})
	if len(o.acks) <= mostAcks {
		return
	}
	out, closest := 1, 2.0
	for i := 1; i < len(o.acks)-1; i++ {
		gap := float64(o.acks[i+1].at-o.acks[i-1].at) / float64(max(at-o.acks[i-1].at, 1))
		if gap < closest {
			out, closest = i, gap
		}
	}
	o.acks = slices.Delete(o.acks, out, out+1)
}

// ackedBy is the newest write that is known to have been acknowledged by then; 0 for none.
func (k *key) ackedBy(then time.Duration) uint64 {
	acks := k.observe().acks
	for i := len(acks) - 1; i >= 0; i-- {
		if acks[i].at <= then {
			return acks[i].seq
		}
	}
	if k.loaded {
		return 1
	}
	return 0
}

// missedAt is when the first acknowledged write after seq was acknowledged, or a later moment.
func (k *key) missedAt(seq uint64) time.Duration {
	if seq == 0 && k.loaded {
		return 0
	}
	for _, a := range k.observe().acks {
		if a.seq > seq {
			return a.at
		}
	}
	return 0
}

// has notes the state that a lane has had.
func (k *key) has(lane *Reads, had ack) {
	o := k.observe()
	for i := range o.lanes {
		if o.lanes[i].lane == lane {
			if had.seq > o.lanes[i].seq {
				o.lanes[i].ack = had
			}
			return
		}
	}
	if len(o.lanes) == mostLanes {
		o.lanes = slices.Delete(o.lanes, 0, 1)
	}
	o.lanes = append(o.lanes, state{lane, had})
}

// hadBefore tells whether a lane has had a newer state than seq by then.
func (k *key) hadBefore(lane *Reads, seq uint64, then time.Duration) bool {
	for _, each := range k.observe().lanes {
		if each.lane == lane {
			return each.seq > seq && each.at <= then
		}
	}
	return false
}

// readUnacked notes that a write was read which is not acknowledged, or not yet.
func (k *key) readUnacked(lane *Reads, seq uint64) {
	o := k.observe()
	for i := range o.unacked {
		if o.unacked[i].lane == lane && o.unacked[i].seq == seq {
			o.unacked[i].n++
			return
		}
	}
	if len(o.unacked) < mostUnacked {
		o.unacked = append(o.unacked, unacked{lane, seq, 1})
	}
}

// decideReads drops what was read of writes up to seq, which is acknowledged now. A write before it
// that was read and is not what this one found was a dirty read.
func (k *key) decideReads(seq uint64, before *int64) {
	left := k.seen.unacked[:0]
	for _, each := range k.seen.unacked {
		switch {
		case each.seq > seq:
			left = append(left, each)
		case each.seq < seq && before != nil && *before < int64(each.seq):
			each.lane.Dirty += each.n
		}
	}
	k.seen.unacked = left
}

// unackedReads are those that are not decided.
func (k *key) unackedReads() (reads []UnackedRead) {
	if k.seen == nil {
		return nil
	}
	for _, each := range k.seen.unacked {
		reads = append(reads, UnackedRead{each.seq, each.lane.Lane, each.n})
	}
	return reads
}

// CheckedReads is what the reads of each lane came to, and some of the stale ones.
func (s *Set) CheckedReads() (lanes []Reads, stale []StaleRead) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(s.reads.lanes)) {
		lanes = append(lanes, *s.reads.lanes[name])
	}
	stale = slices.Clone(s.reads.stale)
	slices.SortFunc(stale, func(a, b StaleRead) int { return cmp.Compare(a.At, b.At) })
	return lanes, stale
}
