package engine

import (
	"time"

	"brownout/loadgen/engine/account"
)

// Ending sums up a load: every operation of it, those of the partial last
// bucket and of the drain included.
type Ending struct {
	Counts     account.Counts
	At         time.Duration // end of the schedule
	LagP99     time.Duration
	Violations uint64 // identities that did not hold: a bug
	Undrained  int64  // operations that the driver never gave back
}

func (e *Engine) ending(undrained int64) Ending {
	ending := Ending{
		At: e.ended, LagP99: e.watch.lagP99(),
		Violations: e.book.Violations(), Undrained: undrained,
	}
	for _, counts := range e.book.Totals() {
		ending.Counts.Offered += counts.Offered
		for i, n := range counts.Ends {
			ending.Counts.Ends[i] += n
		}
	}
	if int64(ending.Counts.Offered-ending.Counts.Ended()) != undrained {
		ending.Violations++
	}
	return ending
}
