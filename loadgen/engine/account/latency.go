package account

import (
	"math/bits"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// Times are kept from 1 µs to 1 h with three significant digits; longer ones
// count as 1 h.
const (
	longestUS = 3_600_000_000
	digits    = 3
)

// maxWaiting bounds the intervals that wait to be written. If the disk stalls,
// the current interval grows longer instead.
const maxWaiting = 4

// Interval holds the histograms of about one second, in µs.
type Interval struct {
	Start, Length time.Duration
	Slots         []SlotTimes
	OK            *hdr.Histogram // response time of all ok operations together
}

// SlotTimes are the histograms of one slot; nil as long as there was nothing
// to record.
type SlotTimes struct {
	Response *hdr.Histogram // of ok operations: completion − intended start
	Service  *hdr.Histogram // of ok operations: completion − send
	Failed   *hdr.Histogram // response time of those sent that were not ok
}

// Each doubling of 1 µs is counted in quarters, so that a percentile of the
// cumulative histogram is good to a quarter at worst; below 4 µs as a whole.
const (
	quarters  = 4
	doublings = 33
	Steps     = quarters * doublings
)

// step returns the number of the step that us µs fall into.
func step(us int64) int {
	power := bits.Len64(uint64(us)) - 1
	within := 0
	if power >= 2 {
		within = int(us>>(power-2)) & (quarters - 1)
	}
	return min(power*quarters+within, Steps-1)
}

// StepEndUS returns the µs that all of a step lies below.
func StepEndUS(step int) float64 {
	power, within := step/quarters, step%quarters
	return float64(uint64(1)<<power) * (1 + float64(within+1)/quarters)
}

type latency struct {
	current *Interval
	second  int64
	waiting []*Interval
	spare   []*Interval
	steps   [][Steps]uint64
	sumUS   []uint64
	slots   int
}

func newLatency(slots int) *latency {
	l := &latency{slots: slots, steps: make([][Steps]uint64, slots), sumUS: make([]uint64, slots)}
	l.current = l.fresh()
	return l
}

func (l *latency) fresh() *Interval {
	if n := len(l.spare); n > 0 {
		last := l.spare[n-1]
		l.spare = l.spare[:n-1]
		return last
	}
	return &Interval{Slots: make([]SlotTimes, l.slots), OK: newHistogram()}
}

func newHistogram() *hdr.Histogram { return hdr.New(1, longestUS, digits) }

func (l *latency) record(e *Ending) {
	l.turn(e.At)
	times := &l.current.Slots[e.Slot]
	response := inUS(e.Response)
	if e.End != Ok {
		put(&times.Failed, response)
		return
	}
	put(&times.Response, response)
	put(&times.Service, inUS(e.Service))
	put(&l.current.OK, response)
	l.steps[e.Slot][step(response)]++
	l.sumUS[e.Slot] += uint64(response)
}

// turn starts a new interval if at lies in a later second than the current one.
func (l *latency) turn(at time.Duration) {
	second := int64(at / time.Second)
	if second <= l.second || len(l.waiting) >= maxWaiting {
		return
	}
	l.current.Start = time.Duration(l.second) * time.Second
	l.current.Length = time.Duration(second-l.second) * time.Second
	l.waiting = append(l.waiting, l.current)
	l.current, l.second = l.fresh(), second
}

func inUS(d time.Duration) int64 { return min(max(d.Microseconds(), 1), longestUS) }

func put(histogram **hdr.Histogram, us int64) {
	if *histogram == nil {
		*histogram = newHistogram()
	}
	_ = (*histogram).RecordValue(us) // inUS keeps it inside the range
}

// Intervals returns the intervals that ended before until; the caller gives
// each back with Recycle.
func (b *Book) Intervals(until time.Duration) []*Interval {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.latency.turn(until)
	waiting := b.latency.waiting
	b.latency.waiting = nil
	return waiting
}

// Recycle empties an interval for further use.
func (b *Book) Recycle(interval *Interval) {
	for _, times := range interval.Slots {
		for _, histogram := range []*hdr.Histogram{times.Response, times.Service, times.Failed} {
			if histogram != nil {
				histogram.Reset()
			}
		}
	}
	interval.OK.Reset()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.latency.spare = append(b.latency.spare, interval)
}

// ResponseTimes returns, for one slot, how many ok operations had a response
// time in each step so far, and the sum in µs.
func (b *Book) ResponseTimes(slot int) (counts [Steps]uint64, sumUS uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.latency.steps[slot], b.latency.sumUS[slot]
}
