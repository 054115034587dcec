package engine

import (
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/engine/account"
	"brownout/loadgen/ledger"
)

// operation is one scheduled operation on its way to its end.
type operation struct {
	op       driver.Op
	stream   *stream
	slot     int
	lane     *lane
	bucket   int64            // of its intended start
	intended time.Duration    // since the schedule's start
	deadline time.Duration    // likewise
	set      *ledger.Set      // of a write to a verified key, which it holds
	known    driver.Known     // likewise: what is stored there
	next     *operation       // in a queue
	done     chan account.End // of a closed loop's worker
}

// slots is the pool that it has its slot of, or waits for one.
func (o *operation) slots() *pool { return o.lane.poolOf(o.op.Kind) }

// outcome is how an operation that was sent came back.
type outcome struct {
	result   driver.Result
	retried  bool
	doubtful bool // an attempt of it was in doubt
	sent     time.Duration
	at       time.Duration
}

// offer draws the next operation of a stream. It returns the operation if that
// has a slot and is to be done; everything else is queued or has ended.
func (e *Engine) offer(s *stream, intended time.Duration, missed bool, done chan account.End) *operation {
	o := e.operation.Get().(*operation)
	*o = operation{stream: s, intended: intended, deadline: intended + s.deadline, done: done}
	e.alive.Add(1)
	s.draw(o)
	if missed {
		o.bucket = e.book.Offered(o.slot, account.NoLane, intended)
		e.end(o, account.Ending{End: account.Missed})
		return nil
	}
	if !s.hold(o, e.Now()) {
		o.bucket = e.book.Offered(o.slot, account.NoLane, intended)
		e.shed(o, "keys-busy")
		return nil
	}
	o.lane = e.lanes.of(e.driver.Lane(&o.op))
	o.bucket = e.book.Offered(o.slot, o.lane.id, intended)
	admitted, shed := o.slots().admit(o)
	if shed != nil {
		e.shed(shed, "")
	}
	if !admitted {
		return nil
	}
	return o
}

// shed ends an operation that found no slot, and was never sent.
func (e *Engine) shed(o *operation, code string) {
	if o.set != nil {
		o.set.Release(o.op.Key)
	}
	e.end(o, account.Ending{End: account.Shed, Cause: driver.CauseNoSlot, Code: code})
}

// end books the one end of an operation and forgets it.
func (e *Engine) end(o *operation, ending account.Ending) {
	ending.Slot, ending.Bucket, ending.Lane = o.slot, o.bucket, account.NoLane
	if o.lane != nil {
		ending.Lane = o.lane.id
	}
	if ending.At == 0 {
		ending.At = e.Now()
	}
	e.book.Ended(&ending)
	if o.stream.source != nil {
		o.stream.tell(o, ending.End)
	}
	done := o.done
	*o = operation{}
	e.operation.Put(o)
	e.alive.Add(-1)
	if done != nil {
		done <- ending.End
	}
}
