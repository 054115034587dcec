package driver

import (
	"sync"
	"time"
)

// keepEvery is how often how far a data set is written is kept: what a kill
// then costs is so much writing again.
const keepEvery = 2 * time.Second

// Filled knows how far a data set is written, whose parts end in any order:
// all items before its mark are.
type Filled struct {
	mu    sync.Mutex
	mark  uint64
	ahead map[uint64]uint64 // parts that ended before one that begins earlier did: first -> limit
	keep  func(mark uint64) error
	kept  time.Time
}

// NewFilled begins at mark. keep stores a new mark where the next load finds it;
// it is called now and then, and never by two at a time.
func NewFilled(mark uint64, keep func(mark uint64) error) *Filled {
	return &Filled{mark: mark, ahead: map[uint64]uint64{}, keep: keep, kept: time.Now()}
}

// Done takes that the items from first up to limit are written.
func (f *Filled) Done(first, limit uint64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ahead[first] = limit
	before := f.mark
	for next, there := f.ahead[f.mark]; there; next, there = f.ahead[f.mark] {
		delete(f.ahead, f.mark)
		f.mark = next
	}
	if f.mark == before || time.Since(f.kept) < keepEvery {
		return nil
	}
	f.kept = time.Now()
	return f.keep(f.mark)
}
