package engine

import (
	"context"
	"time"

	"brownout/loadgen/driver"
)

// deadlineOnly is a context that knows its deadline and never signals it.
type deadlineOnly struct {
	context.Context
	at time.Time
}

func (d deadlineOnly) Deadline() (time.Time, bool) { return d.at, true }

// until is the context of an operation that has to end at a moment. A timer for
// every operation costs as much as a histogram: a driver that ends them by itself
// gets none.
func (e *Engine) until(at time.Time) (context.Context, context.CancelFunc) {
	if e.timesItself {
		return deadlineOnly{context.Background(), at}, func() {}
	}
	return context.WithDeadline(context.Background(), at)
}

func timesItself(d driver.Driver) bool {
	_, found := d.(driver.TimesItself)
	return found
}
