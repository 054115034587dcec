package engine

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"brownout/loadgen/driver"
)

// remade remembers which records of the data set a write found missing and made anew: that they
// are there after the load says nothing any more.
type remade struct {
	mu   sync.Mutex
	keys map[uint64]time.Duration // when first
}

func (r *remade) note(key uint64, at time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keys == nil {
		r.keys = map[uint64]time.Duration{}
	}
	if _, known := r.keys[key]; !known {
		r.keys[key] = at
	}
}

func (r *remade) at(key uint64) *float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, known := r.keys[key]
	if !known {
		return nil
	}
	seconds := at.Seconds()
	return &seconds
}

// One generator reads at most so many records of the data set back, of so many bytes: of more, as
// many at even distances.
const (
	checkedRecords = 200_000
	checkedBytes   = 256 << 20
)

// LoadedData is what became of the data set that the run had loaded: a line of ledger.ndjson.
type LoadedData struct {
	Data    string `json:"data"`    // data
	Keys    uint64 `json:"keys"`    // of the generator's share
	Read    uint64 `json:"read"`    // of which so many were read back, or found missing
	Missing uint64 `json:"missing"` // of these; with those that were made anew
	Corrupt uint64 `json:"corrupt"` // of these: there, and not as any write left them
	Unread  uint64 `json:"unread"`
	Sampled bool   `json:"sampled"`
	Error   string `json:"error,omitempty"` // of those that could not be read
}

// LostRecord is one record that is gone, or was when a write came to it, or that cannot be read
// intact.
type LostRecord struct {
	Record  string   `json:"record"`
	Missing bool     `json:"missing"`            // after the load
	Corrupt bool     `json:"corrupt,omitempty"`  // after the load
	RemadeT *float64 `json:"remade_t,omitempty"` // when a write made it anew, in the run's seconds
}

// ChecksData tells whether the data set is read back after the load: it is part of what was
// acknowledged if this run loaded it and has a ledger at all.
func (e *Engine) ChecksData() bool {
	return e.spec.Data.Load && e.spec.Data.Keys > 0 &&
		slices.ContainsFunc(e.streams, func(s *stream) bool { return s.spec.Verified })
}

// CheckData reads the records of the generator's share of the data set back, and reports those
// that are gone or corrupt.
func (e *Engine) CheckData(ctx context.Context, lost func(*LostRecord) error) (*LoadedData, error) {
	first, limit := e.spec.Part.Range(0, e.spec.Data.Keys)
	checked := &LoadedData{Data: "data", Keys: limit - first}
	step := e.distance(limit - first)
	checked.Sampled = step > 1
	numbers := map[string]uint64{}
	for number := range numbersOf(first, limit, step, func(number uint64) bool { return e.remade.at(number) != nil }) {
		numbers[driver.DataID(number)] = number
	}
	var mu sync.Mutex
	var failed error
	take := func(back driver.ReadBack) {
		mu.Lock()
		defer mu.Unlock()
		number, wanted := numbers[back.ID]
		if !wanted || failed != nil {
			return
		}
		delete(numbers, back.ID)
		failed = checked.take(back, e.remade.at(number), lost)
	}
	err := e.driver.ReadBack(ctx, false, sortedIDs(numbers), false, take)
	if err == nil {
		err = errors.New("the driver did not report this record")
	}
	for id, number := range numbers {
		failed = errors.Join(failed, checked.take(driver.ReadBack{ID: id, Err: err}, e.remade.at(number), lost))
	}
	return checked, errors.Join(failed, ctx.Err())
}

// take counts one record.
func (d *LoadedData) take(back driver.ReadBack, remadeT *float64, lost func(*LostRecord) error) error {
	record := &LostRecord{Record: back.ID, RemadeT: remadeT}
	switch {
	case back.Err != nil:
		d.Unread, d.Error = d.Unread+1, back.Err.Error()
	case back.Missing:
		d.Read, record.Missing = d.Read+1, true
	default:
		d.Read, record.Corrupt = d.Read+1, !back.ChecksumOK && remadeT == nil
	}
	switch {
	case record.Missing || remadeT != nil:
		d.Missing++
	case record.Corrupt:
		d.Corrupt++
	default:
		return nil
	}
	return lost(record)
}

// DataIntact tells whether a data set that an earlier run has written can be used again: every
// record that would be read back after the load is as a write left it.
func (e *Engine) DataIntact(ctx context.Context) (bool, error) {
	var ids []string
	for number := range numbersOf(0, e.spec.Data.Keys, e.distance(e.spec.Data.Keys), nil) {
		ids = append(ids, driver.DataID(number))
	}
	var mu sync.Mutex
	var failed error
	intact := true
	err := e.driver.ReadBack(ctx, false, ids, false, func(back driver.ReadBack) {
		mu.Lock()
		defer mu.Unlock()
		failed = errors.Join(failed, back.Err)
		intact = intact && back.ChecksumOK
	})
	return intact, errors.Join(err, failed)
}

// distance is that between the records which are read back, of so many.
func (e *Engine) distance(keys uint64) uint64 {
	most := min(checkedRecords, max(checkedBytes/uint64(max(e.spec.Data.ValueBytes, 1)), 1))
	return max(1, (keys+most-1)/most)
}

// numbersOf are the numbers from first up to limit that are a multiple of step apart, and those
// that are always wanted.
func numbersOf(first, limit, step uint64, always func(uint64) bool) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for number := first; number < limit; number++ {
			if (number-first)%step == 0 || (always != nil && always(number)) {
				if !yield(number) {
					return
				}
			}
		}
	}
}

func sortedIDs(numbers map[string]uint64) []string {
	ids := make([]string, 0, len(numbers))
	for id := range numbers {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
