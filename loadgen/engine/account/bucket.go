package account

import (
	"cmp"
	"slices"

	"brownout/loadgen/driver"
)

// bucket holds 0.1 s of both views.
type bucket struct {
	done     []doneCell // by completion, a cell per slot
	born     []Counts   // by intended start, a cell per slot
	unended  int64      // of those born here
	lanes    []laneCells
	failures map[failure]uint64
}

type doneCell struct {
	Counts
	retried uint64
	maxUS   int64
}

type laneCell struct{ offered, ok, bad uint64 }

// laneCells are the reads and the writes of a lane, by partOf.
type laneCells [2]laneCell

// partOf is the part of a lane that operations of a kind belong to: 0 reads, 1 writes.
func partOf(kind driver.Kind) int {
	if kind.Write() {
		return 1
	}
	return 0
}

type failure struct {
	slot  int
	cause driver.Cause
	code  string
}

func newBucket(slots int) *bucket {
	return &bucket{done: make([]doneCell, slots), born: make([]Counts, slots)}
}

func (b *bucket) reset() {
	clear(b.done)
	clear(b.born)
	clear(b.lanes)
	clear(b.failures)
	b.unended = 0
}

func (b *bucket) lane(id int) *laneCells {
	for len(b.lanes) <= id {
		b.lanes = append(b.lanes, laneCells{})
	}
	return &b.lanes[id]
}

func (b *bucket) fail(slot int, cause driver.Cause, code string) {
	if b.failures == nil {
		b.failures = map[failure]uint64{}
	}
	b.failures[failure{slot, cause, code}]++
}

// errorRows lists the failures in a fixed order, whatever the map's.
func (b *bucket) errorRows(number int64) []ErrorRow {
	if len(b.failures) == 0 {
		return nil
	}
	rows := make([]ErrorRow, 0, len(b.failures))
	for f, n := range b.failures {
		rows = append(rows, ErrorRow{Bucket: number, Slot: f.slot, Cause: f.cause, Code: f.code, N: n})
	}
	slices.SortFunc(rows, func(a, b ErrorRow) int {
		return cmp.Or(cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Code, b.Code))
	})
	return rows
}
