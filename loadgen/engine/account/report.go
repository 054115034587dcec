package account

import "time"

// Report is what became known since the last one. It is only valid during Take.
type Report struct {
	At        time.Duration // now, since the schedule's start
	Slots     []Slot
	Lanes     []string
	Batch     Batch
	Intervals []*Interval
	Self      []Self
	Pools     []Pool
}

// Self is one second of the generator watching itself.
type Self struct {
	At         time.Duration // start of the second
	LagP99     time.Duration // decision to send − intended start
	LagMax     time.Duration
	GCPause    time.Duration // sum over the second
	CPU        time.Duration // of the process, since the schedule's start
	RSS        uint64        // bytes
	Goroutines int
}

// Pool is the present state of one cap on operations in flight.
type Pool struct {
	Name     string // of its lane, or "global"
	Cap      int
	InFlight int
	Queued   int
}

// Sink takes reports, one after the other.
type Sink interface {
	Take(*Report) error
}
