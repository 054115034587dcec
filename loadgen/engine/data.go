package engine

import (
	"context"
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

// lookedFor bounds how many records of the data set one generator looks for after the load: of
// more, as many at even distances.
const lookedFor = 200_000

// LoadedData is what became of the data set that the run had loaded: a line of ledger.ndjson.
type LoadedData struct {
	Data    string `json:"data"`    // data
	Keys    uint64 `json:"keys"`    // of the generator's share
	Read    uint64 `json:"read"`    // of which so many were looked for, and found or found missing
	Missing uint64 `json:"missing"` // of these; with those that were made anew
	Unread  uint64 `json:"unread"`
	Sampled bool   `json:"sampled"`
	Error   string `json:"error,omitempty"` // of those that could not be read
}

// LostRecord is one record of the data set that is gone, or was when a write came to it.
type LostRecord struct {
	Record  string   `json:"record"`
	Missing bool     `json:"missing"`            // after the load
	RemadeT *float64 `json:"remade_t,omitempty"` // when a write made it anew, in the run's seconds
}

// LooksForData tells whether the data set is looked for after the load: it is part of what was
// acknowledged if this run loaded it and has a ledger at all.
func (e *Engine) LooksForData() bool {
	return e.spec.Data.Load && e.spec.Data.Keys > 0 &&
		slices.ContainsFunc(e.streams, func(s *stream) bool { return s.spec.Verified })
}

// LookForData looks for the records of the generator's share of the data set, and reports those
// that are gone.
func (e *Engine) LookForData(ctx context.Context, finder driver.Finder, gone func(*LostRecord) error) (*LoadedData, error) {
	first, limit := e.spec.Part.Range(0, e.spec.Data.Keys)
	said := &LoadedData{Data: "data", Keys: limit - first}
	step := max(1, (limit-first+lookedFor-1)/lookedFor)
	said.Sampled = step > 1
	var keys []driver.DocumentKey
	var numbers []uint64
	var there []bool
	var err error
	look := func() error {
		if err == nil { // after a failure the rest would only fail as slowly
			there, err = finder.Have(ctx, keys)
		}
		for i, number := range numbers {
			lost := &LostRecord{Record: driver.DataID(number), RemadeT: e.remade.at(number)}
			switch {
			case err != nil:
				said.Unread, said.Error = said.Unread+1, err.Error()
			case there[i]:
				said.Read++
			default:
				said.Read, lost.Missing = said.Read+1, true
			}
			if lost.Missing || lost.RemadeT != nil {
				said.Missing++
				if err := gone(lost); err != nil {
					return err
				}
			}
		}
		keys, numbers = keys[:0], numbers[:0]
		return ctx.Err()
	}
	for number := first; number < limit; number++ {
		if (number-first)%step != 0 && e.remade.at(number) == nil {
			continue
		}
		keys, numbers = append(keys, driver.DocumentKey{ID: driver.DataID(number)}), append(numbers, number)
		if len(keys) == 500 {
			if err := look(); err != nil {
				return nil, err
			}
		}
	}
	return said, look()
}
