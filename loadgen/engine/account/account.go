// Package account keeps the books of a load: every operation that was offered
// ends exactly once, in exactly one of six ways, and the sums always agree.
//
// There are two views, both in buckets of 0.1 s:
//
//	by completion        offered = Σ ends + Δpending        (series.csv)
//	by intended start    offered = Σ ends                   (outcomes.csv)
//
// The second is written once everything that started in a bucket has ended.
// Memory is bounded: a bucket is kept only while an operation of it, or of an
// older one, is still on its way.
package account

import (
	"time"

	"brownout/loadgen/driver"
)

// Width is the width of a bucket.
const Width = 100 * time.Millisecond

// End is one of the six ends of an operation.
type End uint8

// The six ends, in the order of the files' columns.
const (
	Ok      End = iota // success within the deadline
	Late               // success after it
	Failed             // an error known not to have taken effect
	InDoubt            // a write whose effect is unknown
	Shed               // no free slot in its lane before the deadline; never sent
	Missed             // the generator itself did not schedule it in time
	Ends
)

var endNames = [Ends]string{"ok", "late", "failed", "in_doubt", "shed", "missed"}

// String is the name of the column.
func (e End) String() string { return endNames[e] }

// Slot is one pair of stream and operation: one line in every bucket.
type Slot struct {
	Stream string
	Op     driver.Kind
}

// Ending tells how one operation ended.
type Ending struct {
	Slot   int
	Lane   int   // as from Book.Lane; NoLane if it never had one
	Bucket int64 // of its intended start, as from Book.Offered
	At     time.Duration
	End    End
	Cause  driver.Cause // of everything but Ok and Missed
	Code   string
	// Retried tells that more than one attempt was made.
	Retried bool
	// Sent tells that an attempt was made at all; only then the times count.
	Sent     bool
	Response time.Duration // completion − intended start
	Service  time.Duration // completion − send
}

// NoLane stands for operations that ended before they had a lane.
const NoLane = -1

// Counts are operations by their ends.
type Counts struct {
	Offered uint64
	Ends    [Ends]uint64
}

// Ended is the sum of the six ends.
func (c *Counts) Ended() (sum uint64) {
	for _, n := range c.Ends {
		sum += n
	}
	return sum
}

func (c *Counts) add(other *Counts) {
	c.Offered += other.Offered
	for i, n := range other.Ends {
		c.Ends[i] += n
	}
}

// Row is one slot in one bucket. Retried, Pending and MaxUS only count by completion.
type Row struct {
	Bucket int64 // number of the bucket since the schedule's start
	Slot   int
	Counts
	Retried uint64
	Pending int64 // offered so far and not yet ended
	MaxUS   int64 // longest response time of a success, in µs
}

// ErrorRow counts operations of one slot that were not ok for one reason.
type ErrorRow struct {
	Bucket int64
	Slot   int
	Cause  driver.Cause
	Code   string
	N      uint64
}

// LaneRow is the reads or the writes of one lane in one bucket, by completion.
type LaneRow struct {
	Bucket  int64
	Lane    int
	Write   bool
	Offered uint64
	Ok      uint64
	Bad     uint64 // every other end
	Pending int64
}

// Batch is what has become final since the last one, in the order of time.
type Batch struct {
	Series   []Row
	Outcomes []Row
	Errors   []ErrorRow
	Lanes    []LaneRow
}
