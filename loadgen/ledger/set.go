// Package ledger remembers what the database has promised to keep: for each
// key of a verified stream which writes it acknowledged, which are in doubt and
// which failed. After the run that is compared with what is read back.
//
// A key has one writer at a time, so its sequence numbers are in the order of
// its writes. A write in doubt locks its key until that write cannot take
// effect any more. Memory is bounded: per key a fixed part, and at most
// MaxRanges ranges each of sequences in doubt and failed.
package ledger

import (
	"math/bits"
	"slices"
	"sync"
	"time"

	"brownout/loadgen/driver"
)

// Fate is what became of a write.
type Fate uint8

// The fates of a write.
const (
	Acknowledged Fate = iota
	Failed
	InDoubt
)

// Set is the key space of one verified stream: registers or counters.
// All methods are safe for concurrent use.
type Set struct {
	Stream  int
	Name    string
	Counter bool
	ids     []string

	kept []uint64 // keys that are promised of here; nil: all
	read []uint64 // keys that are read back here; nil: those that are kept

	mu     sync.Mutex
	keys   []key
	free   []uint64 // a bit per key
	nfree  int
	doubts []doubt // locks in the order they end
	doubtS time.Duration
}

// key is the history of one key.
type key struct {
	next     uint64 // sequence of the next write
	acked    uint64 // last acknowledged sequence; of counters their number
	ackedN   uint64
	inDoubtN uint64
	failedN  uint64
	inDoubt  ranges
	failed   ranges
	coarse   bool
	open     bool // a write was begun and did not end
}

type doubt struct {
	until time.Duration
	key   uint64
}

// NewSet returns the ledger of a loaded key space. A write in doubt locks its
// key for lock.
func NewSet(from driver.LedgerSet, lock time.Duration) *Set {
	s := &Set{
		Stream: from.Stream, Name: from.Name, Counter: from.Counter, doubtS: lock,
		ids: make([]string, from.Keys), keys: make([]key, from.Keys),
		free: make([]uint64, (from.Keys+63)/64), nfree: int(from.Keys),
	}
	for i := range s.ids {
		s.ids[i] = driver.LedgerID(from.Name, from.Counter, uint64(i))
		s.free[i/64] |= 1 << (i % 64)
		s.keys[i].next = 1
		if !from.Counter { // the load phase wrote sequence 1
			s.keys[i] = key{next: 2, acked: 1, ackedN: 1}
		}
	}
	return s
}

// Own leaves only these keys to be written, promised of and read back here; each of the others
// has its writer elsewhere.
func (s *Set) Own(keys []uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = slices.Sorted(slices.Values(keys))
	clear(s.free)
	s.nfree = 0
	for _, key := range s.kept {
		s.give(key)
	}
}

// ReadShare leaves only the share's keys to be read back here. All are written by all: they are
// counters, whose promises add up.
func (s *Set) ReadShare(share driver.Share) {
	s.read = []uint64{}
	for key := range uint64(len(s.ids)) {
		if share.Has(key) {
			s.read = append(s.read, key)
		}
	}
}

// ID is the stored key.
func (s *Set) ID(key uint64) string { return s.ids[key] }

// IDs lists the stored keys that are read back here.
func (s *Set) IDs() []string {
	which := s.read
	if which == nil {
		which = s.kept
	}
	if which == nil {
		return s.ids
	}
	ids := make([]string, len(which))
	for i, key := range which {
		ids[i] = s.ids[key]
	}
	return ids
}

// Acquire takes the wanted key for writing, or the next free one after it. It
// returns false if every key is busy or in doubt.
func (s *Set) Acquire(wanted uint64, now time.Duration) (key uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unlock(now)
	if s.nfree == 0 {
		return 0, false
	}
	key = s.nextFree(wanted)
	s.take(key)
	return key, true
}

// nextFree searches word by word, around the end if need be.
func (s *Set) nextFree(from uint64) uint64 {
	word := int(from / 64)
	if rest := s.free[word] >> (from % 64); rest != 0 {
		return from + uint64(bits.TrailingZeros64(rest))
	}
	for {
		word = (word + 1) % len(s.free)
		if s.free[word] != 0 {
			return uint64(word*64 + bits.TrailingZeros64(s.free[word]))
		}
	}
}

func (s *Set) take(key uint64) {
	s.free[key/64] &^= 1 << (key % 64)
	s.nfree--
}

func (s *Set) give(key uint64) {
	s.free[key/64] |= 1 << (key % 64)
	s.nfree++
}

// unlock frees the keys whose writes in doubt are history.
func (s *Set) unlock(now time.Duration) {
	n := 0
	for n < len(s.doubts) && s.doubts[n].until <= now {
		s.give(s.doubts[n].key)
		n++
	}
	s.doubts = s.doubts[n:]
}

// Release gives an acquired key back unwritten.
func (s *Set) Release(key uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.give(key)
}

// Begin returns the sequence of the write that is sent next to an acquired key.
func (s *Set) Begin(key uint64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := &s.keys[key]
	k.open = true
	return k.next
}

// End books the write that was begun and gives its key back. The key stays
// locked for a while if an attempt was in doubt, whatever its fate.
func (s *Set) End(key uint64, fate Fate, doubtful bool, now time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[key].book(fate)
	if doubtful || fate == InDoubt {
		s.doubts = append(s.doubts, doubt{now + s.doubtS, key})
		return
	}
	s.give(key)
}

// Tally books a write to a counter that nobody held: any number of them may be under way at
// a time, because increments of 1 add up in any order.
func (s *Set) Tally(key uint64, fate Fate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := &s.keys[key]
	switch fate {
	case Acknowledged:
		k.ackedN++
	case InDoubt:
		k.inDoubtN++
	case Failed:
		k.failedN++
	}
}

func (k *key) book(fate Fate) {
	seq := k.next
	k.next++
	k.open = false
	coarse := false
	switch fate {
	case Acknowledged:
		k.acked = seq
		k.ackedN++
	case InDoubt:
		k.inDoubt, coarse = k.inDoubt.add(seq)
		k.inDoubtN++
	case Failed:
		k.failed, coarse = k.failed.add(seq)
		k.failedN++
	}
	k.coarse = k.coarse || coarse
}
