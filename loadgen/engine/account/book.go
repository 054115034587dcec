package account

import (
	"math"
	"sync"
	"time"

	"brownout/loadgen/driver"
)

// maxCodes bounds the different raw codes that are told apart.
const maxCodes = 256

// maxCodeLength bounds one code.
const maxCodeLength = 80

// Book is the account of one load. All methods are safe for concurrent use.
type Book struct {
	mu       sync.Mutex
	slots    []Slot
	lanes    []string
	codes    map[string]struct{}
	buckets  []*bucket // from number first on
	spare    []*bucket
	first    int64 // oldest bucket whose outcomes are not final
	open     int64 // oldest bucket that still takes completions
	limit    int64 // buckets from here on are partial or after the end: never reported
	pending  []int64
	laneBook []laneState
	live     []int64 // like pending, but as of now, and counted on its own
	ahead    []int64 // the part of live that lies in open buckets
	totals   []Counts
	broken   uint64
	latency  *latency
}

// laneState is what is on its way in a lane, its reads and its writes, and which it has had.
type laneState struct {
	pending [2]int64
	begun   [2]bool
}

// NewBook returns an empty account.
func NewBook(slots []Slot) *Book {
	return &Book{
		slots: slots, codes: map[string]struct{}{}, limit: math.MaxInt64,
		pending: make([]int64, len(slots)), live: make([]int64, len(slots)),
		ahead:  make([]int64, len(slots)),
		totals: make([]Counts, len(slots)), latency: newLatency(len(slots)),
	}
}

// Slots lists the pairs of stream and operation.
func (b *Book) Slots() []Slot { return b.slots }

// Lane returns the number of a new lane.
func (b *Book) Lane(name string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lanes = append(b.lanes, name)
	b.laneBook = append(b.laneBook, laneState{})
	return len(b.lanes) - 1
}

// Lanes lists the lanes by number.
func (b *Book) Lanes() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lanes[:len(b.lanes):len(b.lanes)]
}

// Offered books an intended start and returns its bucket, which its Ending has
// to carry. A start in a bucket that is closed already counts in the oldest
// open one; a schedule avoids that by its watermark (see Close).
func (b *Book) Offered(slot, lane int, intended time.Duration) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	number := max(int64(intended/Width), b.open)
	in := b.at(number)
	in.done[slot].Offered++
	in.born[slot].Offered++
	in.unended++
	if lane != NoLane {
		in.lane(lane)[partOf(b.slots[slot].Op)].offered++
	}
	b.totals[slot].Offered++
	b.live[slot]++
	b.ahead[slot]++
	return number
}

// Ended books an end.
func (b *Book) Ended(e *Ending) {
	b.mu.Lock()
	defer b.mu.Unlock()
	in := b.at(max(int64(e.At/Width), b.open))
	cell := &in.done[e.Slot]
	cell.Ends[e.End]++
	if e.Retried {
		cell.retried++
	}
	if e.Cause != "" {
		in.fail(e.Slot, e.Cause, b.code(e.Code))
	}
	if e.Lane != NoLane {
		if lane := &in.lane(e.Lane)[partOf(b.slots[e.Slot].Op)]; e.End == Ok {
			lane.ok++
		} else {
			lane.bad++
		}
	}
	b.totals[e.Slot].Ends[e.End]++
	b.live[e.Slot]--
	b.ahead[e.Slot]--
	b.settle(e)
	if e.Sent {
		if e.End == Ok || e.End == Late {
			cell.maxUS = max(cell.maxUS, e.Response.Microseconds())
		}
		b.latency.record(e)
	}
}

// settle books the end where the operation started.
func (b *Book) settle(e *Ending) {
	if e.Bucket < b.first || e.Bucket >= b.first+int64(len(b.buckets)) {
		b.broken++ // ended twice, or never offered
		return
	}
	born := b.buckets[e.Bucket-b.first]
	born.born[e.Slot].Ends[e.End]++
	born.unended--
}

// at returns a bucket, made if it is new.
func (b *Book) at(number int64) *bucket {
	for int64(len(b.buckets)) <= number-b.first {
		b.buckets = append(b.buckets, b.fresh())
	}
	return b.buckets[number-b.first]
}

func (b *Book) fresh() *bucket {
	if n := len(b.spare); n > 0 {
		last := b.spare[n-1]
		b.spare = b.spare[:n-1]
		return last
	}
	return newBucket(len(b.slots))
}

// code keeps a database's codes few and short.
func (b *Book) code(code string) string {
	if len(code) > maxCodeLength {
		code = code[:maxCodeLength]
	}
	if _, known := b.codes[code]; known {
		return code
	}
	if len(b.codes) >= maxCodes {
		return string(driver.CauseOther)
	}
	b.codes[code] = struct{}{}
	return code
}

// Totals returns what was offered and ended so far, per slot and the partial
// last bucket and the drain included.
func (b *Book) Totals() []Counts {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]Counts(nil), b.totals...)
}

// OfferedBy returns how many operations of some slots were offered so far.
func (b *Book) OfferedBy(slots []int) (offered uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, slot := range slots {
		offered += b.totals[slot].Offered
	}
	return offered
}

// Pending returns how many operations are on their way now, per slot.
func (b *Book) Pending() []int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]int64(nil), b.live...)
}

// Violations counts the identities that did not hold: a bug if not 0.
func (b *Book) Violations() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.broken
}

// Missed books what a closed loop missed since its generator stood still in [from, to): of each of
// its slots so many operations per second, but in no bucket more than make it up to its usual rate.
// So nothing is missed while the load was still running. Parts of operations are kept in rest.
func (b *Book) Missed(slots []int, rates, rest []float64, from, to time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := 0.0
	for _, rate := range rates {
		all += rate
	}
	if all <= 0 {
		return
	}
	for number := max(int64(from/Width), b.open); time.Duration(number)*Width < to; number++ {
		in, begin := b.at(number), time.Duration(number)*Width
		overlap := min(to, begin+Width) - max(from, begin)
		offered := uint64(0)
		for _, slot := range slots {
			offered += in.born[slot].Offered
		}
		missing := min(all*overlap.Seconds(), all*Width.Seconds()-float64(offered))
		for i, slot := range slots {
			rest[i] += max(missing, 0) * rates[i] / all
			n := uint64(rest[i])
			rest[i] -= float64(n)
			for _, counts := range []*Counts{&in.done[slot].Counts, &in.born[slot], &b.totals[slot]} {
				counts.Offered += n
				counts.Ends[Missed] += n
			}
		}
	}
}
