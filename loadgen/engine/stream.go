package engine

import (
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/engine/keys"
	"brownout/loadgen/engine/pace"
	"brownout/loadgen/history"
	"brownout/loadgen/ledger"
	"brownout/loadgen/spec"
)

// stream draws the operations of one stream of the spec. The seed decides
// them all; only a verified key that is busy makes way for the next one.
type stream struct {
	spec     *spec.Stream
	index    int
	share    driver.Share
	deadline time.Duration
	queueCap int     // operations it may have queued before one lane
	values   *values // of its data set
	firstKey uint64  // of its data set

	kinds     []driver.Kind
	shares    []float64 // cumulative, like kinds; the last is 1
	firstSlot int
	registers *ledger.Set
	counters  *ledger.Set
	writer    string           // of the registers
	history   *history.History // of the registers; nil unless it is checked

	mu      sync.Mutex
	random  *rand.Rand
	chooser keys.Chooser
	own     keys.Chooser // of verified keys, to write to
	source  source       // in place of the mix and the chooser; else nil
	inserts uint64       // number of the next one
}

func newStream(s *spec.Spec, index, firstSlot int, all []*values, inDoubtFor time.Duration) *stream {
	wanted := &s.Streams[index]
	st := &stream{
		spec: wanted, index: index, firstSlot: firstSlot, kinds: wanted.Kinds(), writer: s.Writer,
		deadline: time.Duration(wanted.DeadlineS * float64(time.Second)),
		random:   rand.New(rand.NewPCG(seedFor(s.Part.Seed(s.Seed), "operations", wanted.Name))),
		// The writer keeps the inserts of two runs on the same namespace apart.
		inserts: uint64(crc32.ChecksumIEEE([]byte(s.Writer)))<<32 + uint64(s.Part.Index),
		share:   s.Part,
	}
	st.queueCap = max(wanted.Concurrency, int(math.Ceil(st.rate()*wanted.DeadlineS)), 1)
	st.shares = cumulative(wanted, st.kinds)
	st.settle(s, all)
	n := st.values.set.Keys
	if wanted.Verified {
		n = wanted.LedgerKeys
	}
	var mine []uint64
	if n > 0 { // which keys are hot is the same for all generators
		st.chooser = keys.New(wanted.Keys, n, s.Seed)
		st.own = st.chooser
	}
	if n > 0 && wanted.Verified && !s.Part.Alone() {
		st.own, mine = keys.Own(wanted.Keys, n, s.Seed, s.Part)
	}
	for _, set := range s.LedgerSets() {
		if set.Stream == index {
			kept := ledger.NewSet(set, st.deadline+inDoubtFor)
			kept.Once = wanted.Client != nil && wanted.Client.WriteOnce
			kept.Run = fmt.Sprintf("%08x.", crc32.ChecksumIEEE([]byte(s.Writer)))
			st.keep(kept, mine)
		}
	}
	return st
}

// rate is the generator's share of the stream's.
func (s *stream) rate() float64 { return s.spec.Rate / float64(s.share.Parts()) }

// settle finds the stream's data set; a ledger's keys are the stream's own, and are
// counted from 0.
func (s *stream) settle(all *spec.Spec, values []*values) {
	set, first, _ := all.Data.SetOf(s.spec.Set) // the spec was checked
	for _, v := range values {
		if v.set.Name == set.Name {
			s.values = v
		}
	}
	if !s.spec.Verified {
		s.firstKey = first
	}
}

// keep takes a key space into the ledger: the keys that are the generator's own, or, of counters
// that all generators add to, all.
func (s *stream) keep(set *ledger.Set, own []uint64) {
	switch {
	case s.share.Alone():
	case own != nil:
		set.Own(own)
	default:
		set.ReadShare(s.share)
	}
	if set.Counter {
		s.counters = set
	} else {
		s.registers = set
		if s.spec.Linearizable {
			s.history = history.New(s.writer, set.IDs())
		}
		if s.spec.Reads == spec.Session {
			set.CheckSessions()
		}
	}
}

func cumulative(wanted *spec.Stream, kinds []driver.Kind) []float64 {
	shares, sum := make([]float64, len(kinds)), 0.0
	for i, kind := range kinds {
		sum += wanted.Mix[kind.String()]
		shares[i] = sum
	}
	for i := range shares {
		shares[i] /= sum
	}
	return shares
}

// arrivals are the stream's intended starts; their randomness is their own.
func (s *stream) arrivals(seed uint64) pace.Arrivals {
	if s.spec.Arrivals == spec.Poisson {
		return pace.NewPoisson(s.rate(), rand.New(rand.NewPCG(seedFor(s.share.Seed(seed), "arrivals", s.spec.Name))))
	}
	return pace.NewDealt(s.spec.Rate, s.share)
}

// draw fills in what the operation does, and to which key.
func (s *stream) draw(o *operation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.source != nil {
		s.drawFrom(o)
		return
	}
	at, i := s.random.Float64(), 0
	for i < len(s.shares)-1 && at >= s.shares[i] {
		i++
	}
	o.slot, o.op.Kind = s.firstSlot+i, s.kinds[i]
	o.op.Stream, o.op.Verified = s.index, s.spec.Verified
	switch o.op.Kind {
	case driver.Insert:
		o.op.Key = s.inserts
		o.op.ID = driver.InsertID(s.index, s.inserts)
		s.inserts += uint64(s.share.Parts())
	case driver.Batch:
		s.drawBatch(&o.op)
	default:
		o.op.Key = s.firstKey + s.chooserOf(o.op.Kind).Next(s.random)
	}
	switch o.op.Kind {
	case driver.Update, driver.Insert, driver.Operate:
		o.op.Value = s.values.at(o.op.Key-s.firstKey, s.random.Uint64())
		o.op.Fields = s.values.set.Fields
	}
}

// chooserOf is what an operation's key is chosen by: any may be read, but a verified one has one
// writer.
func (s *stream) chooserOf(kind driver.Kind) keys.Chooser {
	if kind.Write() {
		return s.own
	}
	return s.chooser
}

// drawBatch chooses the keys of a batch, each as if it were alone.
func (s *stream) drawBatch(op *driver.Op) {
	op.IDs = make([]string, s.spec.BatchKeys)
	for i := range op.IDs {
		key := s.firstKey + s.chooser.Next(s.random)
		if s.spec.Verified {
			op.IDs[i] = s.registers.ID(key)
		} else {
			op.IDs[i] = driver.DataID(key)
		}
	}
	op.ID = op.IDs[0]
}

// hold settles the stored key, and takes it if it is a verified key to be
// written. It returns false if all of those are busy.
func (s *stream) hold(o *operation, now time.Duration) bool {
	if s.source != nil || o.op.Kind == driver.Insert || o.op.Kind == driver.Batch {
		return true
	}
	if !s.spec.Verified {
		o.op.ID = driver.DataID(o.op.Key)
		return true
	}
	set := s.registers
	if o.op.Kind == driver.Increment {
		set = s.counters
	}
	if o.op.Kind.Write() {
		key, ok := set.Acquire(o.op.Key, now)
		if !ok {
			return false
		}
		o.op.Key, o.set, o.op.ID = key, set, set.WriteID(key)
		return true
	}
	o.op.ID = set.ID(o.op.Key)
	return true
}
