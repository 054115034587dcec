package pace

import (
	"math"
	"time"
)

// Alarm wakes the one goroutine that waits for it.
type Alarm interface {
	// Set makes the alarm go off in d, which is positive, and not when it was set to before. Any
	// goroutine may set it, as long as the one that waits does not close it.
	Set(d time.Duration)
	// Wait returns once done returns true. It calls done at first, and then whenever the alarm goes
	// off. An alarm that is set during or after the first call is never lost, one that was set
	// before may be.
	Wait(done func() bool)
	Close()
}

// Timer is an alarm by the runtime's own timers, which round up to a whole millisecond when a
// process is idle.
type Timer struct{ timer *time.Timer }

// NewTimer returns a timer that is not set.
func NewTimer() Timer { return Timer{time.NewTimer(math.MaxInt64)} }

// Set makes it go off in d.
func (t Timer) Set(d time.Duration) { t.timer.Reset(d) }

// Wait sleeps until done.
func (t Timer) Wait(done func() bool) {
	for !done() {
		<-t.timer.C
	}
}

// Close frees the timer.
func (t Timer) Close() { t.timer.Stop() }
