// Package ledger remembers what the database has promised to keep: for each
// key of a verified stream which writes it acknowledged, which are in doubt and
// which failed. After the run that is compared with what is read back.
//
// A key has one writer at a time, so its sequence numbers are in the order of
// its writes. A write in doubt locks its key until that write cannot take
// effect any more. Each write names what its writer knows to be stored, and is
// refused where anything else is: so no write covers up that an earlier one is
// gone. A stored key that was found to hold something else is never written
// again; its history is kept as it is, and the writer continues under a new one.
// Where a write cannot name what it knows, each one has a stored key of its own
// (Once), so that nothing is ever written over.
// Memory is bounded: per stored key a fixed part, and at most MaxRanges ranges
// each of sequences in doubt and failed.
package ledger

import (
	"fmt"
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
	Run     string // part of the stored keys that this run makes: an earlier one's may be there
	Once    bool   // a stored key is written once: the next write of the key is under a new one
	ids     []string

	shared bool     // many writers at a time add to a counter
	kept   []uint64 // keys that are promised of here; nil: all
	mine   []uint64 // a bit per key that is kept; nil: all
	read   []uint64 // keys that are read back here; nil: those that are kept

	mu     sync.Mutex
	reads  checks
	keys   []key
	gone   []gone
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

	// What is stored, as far as its writer knows: the sequence of a register, the value of a
	// counter. What is above first is in doubt.
	first, last uint64
	generation  uint32 // 0: not known
	doubted     bool   // a write was in doubt, now or earlier
	applied     uint64 // writes in doubt that were found to have taken effect
	absent      uint64 // and not to have
	remadeN     uint64 // writes to a shared counter that had to make it anew

	seen *observed // of a register: what its reads are held against; nil until there is something

	loaded bool   // the load phase wrote it
	create bool   // nothing is stored yet: the next write makes it
	heirs  int    // stored keys that took the place of the first one
	legacy string // the stored key before this one, to be read while create
}

// gone is a stored key that is not written any more.
type gone struct {
	id      string
	history key
	refusal *Refusal
}

// Refusal is when a conditional write found something else than its writer knew to be there,
// and what.
type Refusal struct {
	T     float64 `json:"t"`     // seconds since the schedule began
	Found string  `json:"found"` // missing, older, newer, foreign or corrupt
	Seq   *uint64 `json:"seq,omitempty"`
	Value *int64  `json:"value,omitempty"`
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
		s.keys[i] = key{next: 1, loaded: true}
		if !from.Counter { // the load phase wrote sequence 1
			s.keys[i] = key{next: 2, acked: 1, ackedN: 1, first: 1, last: 1, loaded: true}
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
	s.nfree, s.mine = 0, make([]uint64, len(s.free))
	for _, key := range s.kept {
		s.give(key)
		s.mine[key/64] |= 1 << (key % 64)
	}
}

// owns tells whether the key has its writer here.
func (s *Set) owns(key uint64) bool {
	return s.mine == nil || s.mine[key/64]&(1<<(key%64)) != 0
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

// ID is the stored key to read.
func (s *Set) ID(key uint64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := &s.keys[key]; k.create {
		return k.legacy
	}
	return s.ids[key]
}

// WriteID is the stored key to write, of a key that is held.
func (s *Set) WriteID(key uint64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ids[key]
}

// IDs lists the stored keys that are read back here.
func (s *Set) IDs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	which := s.read
	if which == nil {
		which = s.kept
	}
	ids := slices.Clone(s.ids)
	if which != nil {
		ids = ids[:0]
		for _, key := range which {
			ids = append(ids, s.ids[key])
		}
	}
	for i := range s.gone {
		ids = append(ids, s.gone[i].id)
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
	if k := &s.keys[key]; s.Once && k.next > 1 {
		s.replace(key, nil)
	}
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

// Begin returns the sequence of the write that is sent next to an acquired key, and what its
// writer knows to be stored there.
func (s *Set) Begin(key uint64) (seq uint64, known driver.Known) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := &s.keys[key]
	k.open = true
	return k.next, driver.Known{First: int64(k.first), Last: int64(k.last), Generation: k.generation, Create: k.create}
}

// Ended is how a write came back.
type Ended struct {
	Fate     Fate
	Doubtful bool // an attempt of it was in doubt
	At       time.Duration
	Lane     string
	Result   *driver.Result // what the driver knows beyond that; nil for nothing
}

// End books the write that was begun and gives its key back. The key stays
// locked for a while if an attempt was in doubt, whatever its fate, unless its next write is under
// another stored key.
func (s *Set) End(key uint64, ended Ended) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle(key, &ended)
	if !s.Once && (ended.Doubtful || ended.Fate == InDoubt) {
		s.doubts = append(s.doubts, doubt{ended.At + s.doubtS, key})
		return
	}
	s.give(key)
}

// Leave books a write that was begun and refused, and keeps its key held, if it was refused because
// something else is stored: then the writer continues under the new WriteID.
func (s *Set) Leave(key uint64, ended Ended) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := ended.Result
	if !r.Refused || r.Look == nil || s.refusal(&s.keys[key], r.Look, ended.At) == nil {
		return false
	}
	s.settle(key, &ended)
	return true
}

func (s *Set) settle(key uint64, ended *Ended) {
	k := &s.keys[key]
	seq := k.next
	k.book(ended.Fate)
	k.doubted = k.doubted || ended.Doubtful || ended.Fate == InDoubt
	s.learn(k, seq, ended)
	if ended.Fate == Acknowledged && !s.Counter {
		s.acknowledged(k, seq, ended)
	}
	s.succeed(key, ended)
}

// acknowledged has later reads held against this write, and settles earlier ones.
func (s *Set) acknowledged(k *key, seq uint64, ended *Ended) {
	k.acknowledge(seq, ended.At)
	if s.reads.bySession {
		k.has(s.reads.of(ended.Lane), ack{seq, ended.At})
	}
	if len(k.seen.unacked) > 0 {
		var before *int64
		if ended.Result != nil {
			before = ended.Result.Before
		}
		k.decideReads(seq, before)
	}
}

// learn takes what a write says of what is stored now.
func (s *Set) learn(k *key, seq uint64, ended *Ended) {
	result := ended.Result
	if result == nil {
		result = &driver.Result{}
	}
	switch ended.Fate {
	case InDoubt:
		if k.last++; !s.Counter {
			k.last = seq
		}
	case Acknowledged:
		k.resolve(s.Counter, result.Before)
		k.first, k.last = k.first+1, k.last+1
		if !s.Counter {
			k.first, k.last = seq, seq
		}
		k.generation, k.create = result.Generation, false
	}
	if k.doubted || result.Refused { // two writes that took the same generation in two places look alike
		k.generation = 0
	}
}

// resolve takes what a write found before it: which of the writes in doubt had taken effect. Of a
// register's that the found one overwrote this is unknown.
func (k *key) resolve(counter bool, before *int64) {
	if before == nil || *before < int64(k.first) || *before > int64(k.last) {
		return
	}
	found := uint64(*before)
	if counter {
		k.applied, k.absent = k.applied+found-k.first, k.absent+k.last-found
		k.first, k.last = found, found
		return
	}
	if found > k.first {
		k.applied++
	}
	k.absent += k.inDoubt.between(found+1, k.last)
}

// succeed leaves a stored key that holds something else than its writer knew, or of which it is
// unknown whether it was made, and has a new one take its place.
func (s *Set) succeed(number uint64, ended *Ended) {
	k := &s.keys[number]
	var refusal *Refusal
	if r := ended.Result; r != nil && r.Refused && r.Look != nil {
		refusal = s.refusal(k, r.Look, ended.At)
	}
	unsureIfMade := k.create && ended.Fate == InDoubt
	if refusal == nil && !unsureIfMade {
		return
	}
	s.replace(number, refusal)
}

// replace has a new stored key take the place of the present one, whose history is kept.
func (s *Set) replace(number uint64, refusal *Refusal) {
	k := &s.keys[number]
	heir := key{next: 1, create: true, heirs: k.heirs + 1, legacy: k.legacy}
	if !k.create {
		heir.legacy = s.ids[number]
	}
	if !k.create || k.last > 0 || s.Once { // what could not be made promises nothing
		s.gone = append(s.gone, gone{id: s.ids[number], history: *k, refusal: refusal})
	}
	s.ids[number] = fmt.Sprintf("%s.%s%d", driver.LedgerID(s.Name, s.Counter, number), s.Run, heir.heirs)
	*k = heir
}

// refusal says what was found in place of what is known to be there; nil if it is that after all.
func (s *Set) refusal(k *key, look *driver.ReadBack, at time.Duration) *Refusal {
	said := &Refusal{T: at.Seconds()}
	found := look.Value
	switch {
	case look.Missing && k.create:
		return nil
	case look.Missing:
		said.Found = "missing"
		return said
	case !look.ChecksumOK:
		said.Found = "corrupt"
		return said
	case s.Counter:
		said.Value = &look.Value
	default:
		seq := look.Record.Seq
		found, said.Seq = int64(seq), &seq
	}
	switch {
	case look.Foreign || k.create:
		said.Found = "foreign"
	case found < int64(k.first):
		said.Found = "older"
	case found > int64(k.last):
		said.Found = "newer"
	default:
		return nil
	}
	return said
}

// Share says that its counters have many writers, here and in other generators: what one knows of
// a counter is not what is to be found.
func (s *Set) Share() { s.shared = true }

// Tally books a write to a counter that no writer held: any number of them may be under way at
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

// Remade notes that such a counter was missing and had to be made anew.
func (s *Set) Remade(key uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[key].remadeN++
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
